"""`sparkivm leftovers`: relations that the package made for the project and no model needs any more.

tested  tests/adapter/test_command_output.py
"""

from __future__ import annotations

from typing import Any

import click
from dbt.adapters.sparkivm.command.output import format_option, print_json, print_table
from dbt.adapters.sparkivm.command.project import Project, project_options

_COLUMNS = ("relation", "is a", "of", "because")


@click.command()
@click.option("--drop", is_flag=True, help="Drop them.")
@format_option
@project_options
@click.pass_context
def leftovers(context: click.Context, project: Project, drop: bool, format: str) -> None:
    """List the tables and views that no model of the project needs any more, or drop them.

    With --drop, the exit code is 1 if one of them is still there.
    """
    found = project.answer("incremental_view_leftovers", {"drop": drop, "format": "json"})
    known = [one for one in found if one["role"] is not None]  # others could not be read
    if format == "json":
        print_json(found)
    else:
        _print(found, known, drop)
    context.exit(1 if drop and not all(one["dropped"] for one in known) else 0)


def _print(found: list[dict[str, Any]], known: list[dict[str, Any]], drop: bool) -> None:
    if known:
        columns = (*_COLUMNS, "dropped") if drop else _COLUMNS
        print_table(columns, [_row(one)[: len(columns)] for one in known])
    else:
        click.echo("there are no leftovers")
    if known and not drop:
        click.echo("\n`sparkivm leftovers --drop` drops them")
    problems = [f"{one['relation']}: {one['problem']}" for one in found if one["problem"]]
    if problems:
        click.echo("\n" + "\n".join(problems))


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    return (one["relation"], one["role"], one["model"], one["why"], "yes" if one["dropped"] else "no")
