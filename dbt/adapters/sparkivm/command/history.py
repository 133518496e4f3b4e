"""`sparkivm history`: the last refreshes of a view, from the commits of its state."""

from __future__ import annotations

from typing import Any

import click
from dbt.adapters.sparkivm.command.output import format_option, limit_option, print_json, print_table
from dbt.adapters.sparkivm.command.project import Project, project_options
from dbt.adapters.sparkivm.shown_values import at, count, seconds

_COLUMNS = ("committed", "mode", "form", "took", "+", "-", "~", "reason")
_RIGHT = ("took", "+", "-", "~")


@click.command()
@click.argument("view")
@limit_option(default=20)
@format_option
@project_options
def history(project: Project, view: str, limit: int, format: str) -> None:
    """Show the last refreshes of VIEW, a model's name, newest first."""
    found = project.answer("incremental_view_history", {"view": view, "limit": limit})
    if format == "json":
        print_json(found)
    else:
        print_table(_COLUMNS, map(_row, found), right=_RIGHT)


def _row(refresh: dict[str, Any]) -> tuple[object, ...]:
    rows = (count(refresh[f"rows_{what}"]) for what in ("inserted", "deleted", "updated"))
    reason = ": ".join(filter(None, (refresh["reason"], refresh["detail"])))
    return (at(refresh["at"]), refresh["mode"], refresh["form"], seconds(refresh["seconds"]), *rows, reason)
