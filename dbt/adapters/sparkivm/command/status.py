"""`sparkivm status`: how up to date the incremental views of a project are.

tested  tests/adapter/test_command_output.py
"""

from __future__ import annotations

from typing import Any

import click
from dbt.adapters.sparkivm.command.output import format_option, print_json, print_table
from dbt.adapters.sparkivm.command.project import Project, project_options, select_option
from dbt.adapters.sparkivm.shown_values import at, count, minutes, seconds, size

_COLUMNS = ("view", "is", "last refresh", "mode", "took", "saved", "behind", "history", "rows", "size")
_RIGHT = ("took", "saved", "rows", "size")


@click.command()
@select_option
@format_option
@project_options
def status(project: Project, select: tuple[str, ...], format: str) -> None:
    """Show how up to date the views are. Reads metadata only, and changes nothing."""
    arguments = {"views": project.views(select)} if select else {}
    found = project.answer("incremental_view_status", arguments)
    if format == "json":
        print_json(found)
        return
    if not found:
        click.echo("no incremental view is selected" if select else "the project has no incremental view")
        return
    print_table(_COLUMNS, map(_row, found), right=_RIGHT)
    notes = [f"{view['view']}: {note}" for view in found for note in _notes(view)]
    if notes:
        click.echo("\n" + "\n".join(notes))


def _row(view: dict[str, Any]) -> tuple[object, ...]:
    last = view["last_refresh"] or {}
    files = view["files"]
    stored = None if files is None else f"{size(view['bytes'])}, {files} {'file' if files == 1 else 'files'}"
    return (
        view["view"],
        view["condition"].replace("_", " "),
        at(last["at"]) if last else None,
        last.get("mode"),
        seconds(last.get("seconds")),
        seconds(view["saved_seconds"]),
        _behind(view["sources"]),
        _history(view["sources"]),
        count(view["rows"]),
        stored,
    )


def _behind(sources: list[dict[str, Any]]) -> str | None:
    """`3 commits, 5 min`, of all sources together."""
    behind = [source for source in sources if source["behind"]]
    if not behind:
        return None
    commits = sum(source["commits_behind"] for source in behind)
    since = max((source["minutes_behind"] or 0 for source in behind), default=0)
    return f"{commits} {'commit' if commits == 1 else 'commits'}, {minutes(since)}"


def _history(sources: list[dict[str, Any]]) -> str | None:
    """The time that is left until the first source loses what the next refresh reads."""
    left = [source["history_days"] for source in sources if source["history_days"] is not None]
    return f"{min(left):.1f} days" if left else None


def _notes(view: dict[str, Any]) -> list[str]:
    """What is wrong, and why the last refresh was a rebuild."""
    notes = [view["problem"]] if view["problem"] else []
    last = view["last_refresh"]
    if last and last["reason"]:
        notes.append(f"last refresh {last['mode']}: {last['reason']}: {last['detail']}")
    return notes
