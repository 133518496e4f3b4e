"""`sparkivm leftovers`: relations that the package made for the project and no model needs any more."""

from __future__ import annotations

import click
from dbt.adapters.sparkivm.command.output import format_option, print_json, print_table
from dbt.adapters.sparkivm.command.project import Project, project_options


@click.command()
@click.option("--drop", is_flag=True, help="Drop them.")
@format_option
@project_options
def leftovers(project: Project, drop: bool, format: str) -> None:
    """List the tables and views that no model of the project needs any more, or drop them."""
    arguments = {"drop": drop, "format": "json"}
    found = project.answer("incremental_view_leftovers", arguments)
    if format == "json":
        print_json([{**one, "dropped": drop} for one in found])
        return
    if not found:
        click.echo("there are no leftovers")
        return
    print_table(("relation", "is a", "of", "because"), [tuple(one.values()) for one in found])
    click.echo("\nthey were dropped" if drop else "\n`sparkivm leftovers --drop` drops them")
