"""A report of `sparkivm check`, with its changes since an earlier one, as a table, JSON or Markdown.

tested  tests/check/test_command.py
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sparkivm.check.comparison import Change
from sparkivm.check.report import ModelReport, Report, Verdict

Changes = Collection[Change]
_GUIDE = "how to move a model: docs/from_incremental.md in the repository of dbt-sparkivm"
_COLORS: Mapping[Verdict, str] = {"incremental": "green", "full": "yellow", "unknown": "red"}
_COLUMNS = ("model", "now", "as incremental_view", "reason")


def as_table(report: Report, changes: Changes | None) -> None:
    """For a terminal: a table of all models, then what there is to say of each."""
    console = Console(highlight=False)
    table = Table()
    for column in _COLUMNS:
        table.add_column(column, overflow="fold")  # names are not cut
    for model in report.models:
        color = _COLORS[model.verdict]
        table.add_row(Text(model.name), model.materialized, Text(model.verdict, color), _code(model))
    console.print(table)
    for model in report.models:
        details = list(_details(model))
        if details:
            console.print(Text(f"\n{model.name}", "bold"), Text(model.path))
        for label, text in details:
            console.print(Text(f"  {label:<5}  {_indented(text)}"), soft_wrap=True)
    if changes is not None:
        console.print(Text("\nChanges since the earlier report", "bold"))
        for line in _lines_of(changes):
            console.print(Text(f"  {line}"), soft_wrap=True)
    console.print()
    for line in _ends(report):
        console.print(Text(line), soft_wrap=True)


def as_json(report: Report, changes: Changes | None) -> None:
    """As docs/check.schema.json describes it."""
    found = report.json
    if changes is not None:
        found["changes"] = [
            {"kind": change.kind, "model": change.model.model, "before": change.before} for change in changes
        ]
    click.echo(json.dumps(found, indent=2))


def as_markdown(report: Report, changes: Changes | None) -> None:
    """For a comment on a pull request."""
    lines = [f"## Incremental views of {report.project}", "", *_ends(report), ""]
    if changes is not None:
        lines += ["### Changes", "", *(f"- {line}" for line in _lines_of(changes)), ""]
    lines += [_row(_COLUMNS), _row(["---"] * len(_COLUMNS))]
    lines += [_row((model.name, model.materialized, model.verdict, _code(model))) for model in report.models]
    for model in report.models:
        details = list(_details(model))
        if details:
            lines += ["", f"**{model.name}** `{model.path}`", ""]
            lines += [f"- {label}: {_indented(text, '  ')}" for label, text in details]
    click.echo("\n".join(lines))


FORMATS: Mapping[str, Callable[[Report, Changes | None], None]] = {
    "table": as_table,
    "json": as_json,
    "markdown": as_markdown,
}


def _code(model: ModelReport) -> str:
    return "" if model.cause is None else model.cause.code


def _details(model: ModelReport) -> Iterator[tuple[str, str]]:
    """What there is to say of a model: labels and texts."""
    cause = model.cause
    if cause is not None:
        yield "what", cause.what
        if cause.line is not None:
            in_file = f"{model.path}:{cause.file_line}, " if cause.file_line else ""
            excerpt = f": {cause.text}" if cause.text else ""
            yield "where", f"{in_file}compiled line {cause.line}, column {cause.column}{excerpt}"
        yield "do", cause.do
    for edit in model.edits:
        where = f"line {', '.join(map(str, edit.lines))}: " if edit.lines else ""
        yield "edit", f"{where}{edit.what}; {edit.do}"
    for remark in model.remarks:
        yield "note", remark


def _lines_of(changes: Changes) -> list[str]:
    return [_line_of(change) for change in changes] or ["none"]


def _line_of(change: Change) -> str:
    code = "" if change.kind == "removed" else _code(change.model)
    return f"{change.kind}: {change.model.name}{f' ({code})' if code else ''}"


def _ends(report: Report) -> Iterator[str]:
    """Counts, and where to read on."""
    counts = [f"{report.counts[verdict]} {verdict}" for verdict in _COLORS]
    yield f"{len(report.models)} model{'s' * (len(report.models) != 1)}: {', '.join(counts)}"
    if any(model.materialized != "incremental_view" for model in report.models):
        yield _GUIDE


def _row(cells: Collection[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _indented(text: str, margin: str = " " * 9) -> str:
    """A text of several lines, with those behind the first one indented."""
    return f"\n{margin}".join(text.splitlines())
