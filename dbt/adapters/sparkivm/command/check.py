"""`sparkivm check`: which models would be incremental, and what would be in the way.

tested  tests/check/test_command.py, tests/dbt/test_check.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import click
from dbt.adapters.sparkivm.__version__ import version
from dbt.adapters.sparkivm.command.check_formats import FORMATS
from dbt.adapters.sparkivm.command.project import NotStarted, Project, json_in, project_options
from dbt.cli.options import MultiOption
from rich.console import Console
from rich.progress import Progress

from sparkivm.check.comparison import POLICIES, Policy, changes_between, violations
from sparkivm.check.report import ModelReport, Report

_MACRO = "incremental_view_check"


@click.command()
@click.option(
    "--select",
    "-s",
    cls=MultiOption,
    multiple=True,
    type=tuple,
    help="models to check, in dbt's selection syntax",
)
@click.option(
    "--exclude", cls=MultiOption, multiple=True, type=tuple, help="models to leave out, in the same syntax"
)
@click.option("--format", "format_", type=click.Choice(tuple(FORMATS)), default="table", show_default=True)
@click.option(
    "--compare",
    "earlier",
    type=click.Path(path_type=Path),
    help="an earlier report in JSON; show what changed since",
)
@click.option(
    "--fail-on",
    "policies",
    type=click.Choice(POLICIES),
    multiple=True,
    help="exit with 1. full: if a model is not known to be incremental. regression: if one that was "
    "incremental in the earlier report is not known to be any more",
)
@project_options
@click.pass_context
def check(
    context: click.Context,
    project: Project,
    select: tuple[str, ...],
    exclude: tuple[str, ...],
    format_: str,
    earlier: Path | None,
    policies: tuple[Policy, ...],
) -> None:
    """Show which models would be incremental as incremental_view, and why others not. Builds nothing."""
    if "regression" in policies and earlier is None:
        raise click.UsageError("--fail-on regression needs --compare")
    before = None if earlier is None else _read(earlier)
    models = _selected(project, select, exclude) if select or exclude else None
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as progress:
        lines = _Lines(progress)
        try:
            project.operation(_MACRO, {"models": models}, lines.take)
        except click.ClickException as error:  # exit code 1 would mean that --fail-on found a model
            raise NotStarted(error.message) from error
    report = lines.report
    changes = None if before is None else changes_between(before, report, lines.head["left_out"])
    FORMATS[format_](report, changes)
    found = {policy: violations(policy, report, changes or ()) for policy in policies}
    for policy, refused in found.items():
        if refused:
            names = ", ".join(model.name for model in refused)
            click.echo(f"--fail-on {policy}: {names}", err=True)
    context.exit(1 if any(found.values()) else 0)


def _read(path: Path) -> Report:
    try:
        return Report.of(json.loads(path.read_text()))
    except (OSError, ValueError) as error:
        raise NotStarted(f"cannot read {path}: {error}") from error


def _selected(project: Project, select: Sequence[str], exclude: Sequence[str]) -> list[str]:
    """unique_ids of models, as `dbt list` finds them."""
    given = (("--select", select), ("--exclude", exclude))
    return project.models(*(part for option, groups in given for group in groups for part in (option, group)))


_OF_HEAD = {"models", "left_out"}
_OF_MODELS = {one.name for one in fields(ModelReport)}


@dataclass
class _Lines:
    """What the operation prints: the project, then each model."""

    progress: Progress
    head: dict[str, Any] = field(default_factory=dict)
    models: list[ModelReport] = field(default_factory=list)

    def take(self, line: str) -> None:
        found = json_in(line)
        expected = _OF_MODELS if self.head else _OF_HEAD
        if not isinstance(found, dict) or not expected <= found.keys():
            return  # printed by the project
        if not self.head:
            self.head = found
            self.progress.add_task("models", total=len(found["models"]))
            return
        self.models.append(ModelReport.of(found))
        self.progress.advance(self.progress.task_ids[0])

    @property
    def report(self) -> Report:
        models = sorted(self.models, key=lambda model: model.model)
        return Report(self.head["project"], version, tuple(models))
