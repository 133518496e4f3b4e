"""What subcommands print: JSON as an operation returns it, or a table for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

_Command = TypeVar("_Command", bound=Callable[..., Any])
_WIDTH_OF_FILES = 200  # columns, if the output is not a terminal

format_option = click.option(
    "--format", type=click.Choice(["table", "json"]), default="table", show_default=True, help="output format"
)


def limit_option(default: int) -> Callable[[_Command], _Command]:
    return click.option(
        "--limit", type=click.IntRange(min=1), default=default, show_default=True, help="maximum shown"
    )


def print_json(found: object) -> None:
    click.echo(json.dumps(found, indent=2, ensure_ascii=False))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()
) -> None:
    """`right`: columns of numbers. None is shown as nothing."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if value is None else str(value)) for value in row))
    Console(width=None if sys.stdout.isatty() else _WIDTH_OF_FILES).print(table)
