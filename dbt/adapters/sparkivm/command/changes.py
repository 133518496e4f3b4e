"""`sparkivm changes`: the rows that the last refresh added to a view and removed from it."""

from __future__ import annotations

import click
from dbt.adapters.sparkivm.command.output import format_option, limit_option, print_json, print_table
from dbt.adapters.sparkivm.command.project import Project, project_options
from dbt.adapters.sparkivm.shown_values import at


@click.command()
@click.argument("view")
@limit_option(default=100)
@format_option
@project_options
def changes(project: Project, view: str, limit: int, format: str) -> None:
    """Show the rows of VIEW, a model's name, that its last refresh added and removed.

    It compares two versions of the view, so it takes as long as reading both.
    """
    found = project.answer("incremental_view_changes", {"view": view, "limit": limit})
    if format == "json":
        print_json(found)
        return
    refresh, rows = found["refresh"], found["rows"]
    click.echo(f"{found['view']}: refresh of {at(refresh['at'])}, {refresh['mode']}\n")
    signs = {"added": "+", "removed": "-"}
    times = any(row["times"] > 1 for row in rows)
    print_table(
        ("", *(("times",) if times else ()), *found["columns"]),
        ((signs[row["change"]], *((row["times"],) if times else ()), *row["values"]) for row in rows),
    )
    if not rows:
        click.echo("no row of the view changed")
    elif not found["complete"]:
        click.echo(f"\nthere are more; only {limit} are shown (--limit)")
