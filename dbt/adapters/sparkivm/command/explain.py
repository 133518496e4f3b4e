"""`sparkivm explain`: the plan of a view, and what its next refresh would do."""

from __future__ import annotations

import click
from dbt.adapters.sparkivm.command.project import Project, project_options

FORMATS = ("text", "steps", "json", "mermaid", "dot", "svg")


@click.command()
@click.argument("model")
@click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="output format")
@project_options
def explain(project: Project, model: str, format: str) -> None:
    """Show the plan of MODEL, what is incremental and what is not, and the next refresh."""
    printed = project.operation("explain_incremental_view", {"model": model, "format": format})
    click.echo(printed[-1])
