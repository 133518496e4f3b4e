"""`sparkivm report`: the last run of dbt as an HTML file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click
from dbt.adapters.sparkivm.command.project import NotStarted, Project, project_options
from dbt.adapters.sparkivm.report.page import page
from dbt.adapters.sparkivm.report.views_of_run import Run, read_run

_RUNS = ("dbt run", "dbt build", "dbt retry")


@click.command()
@click.option(
    "--target-path",
    type=click.Path(path_type=Path),
    help="where dbt wrote the run, in the project  [default: where dbt writes its artifacts]",
)
@click.option("--output", "-o", type=click.Path(path_type=Path), help="[default: report.html there]")
@click.option("--offline", is_flag=True, help="Use only the files: no history, no plans.")
@project_options
def report(project: Project, target_path: Path | None, output: Path | None, offline: bool) -> None:
    """Write the last run of dbt as an HTML file: times against rebuilds, reasons, history, plans."""
    target = project.directory / target_path if target_path else project.target_path
    try:
        run = read_run(target / "run_results.json")
    except (OSError, ValueError, KeyError) as error:
        raise NotStarted(f"{target} has no run of dbt that can be read: {error}") from error
    if run.command not in _RUNS:
        what = f"{target / 'run_results.json'} is of `{run.command}`, which refreshes nothing"
        raise NotStarted(f"{what}; make the report directly after dbt run or dbt build")
    if not offline and run.views:
        try:
            run = _with_states(project, run)
        except click.ClickException as error:
            click.echo(f"the report has no history and no plans: {error.message}", err=True)
    written = output or target / "report.html"
    written.write_text(page(project.name, run), encoding="utf-8")
    click.echo(f"{written}")


def _with_states(project: Project, run: Run) -> Run:
    """Raises: click.ClickException without a connection."""
    arguments = {"views": [view.unique_id for view in run.views]}
    answer = project.answer("incremental_view_report", arguments)
    found = {one["status"]["model"]: one for one in answer}
    views = (replace(view, **found[view.unique_id]) for view in run.views)
    return replace(run, views=tuple(views), connected=True)
