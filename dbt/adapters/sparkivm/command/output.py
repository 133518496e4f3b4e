"""What subcommands print: JSON as an operation returns it, or a table for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

_Command = TypeVar("_Command", bound=Callable[..., Any])
_WIDTH_OF_FILES = 200  # columns, if the output is not a terminal

format_option = click.option(
    "--format", type=click.Choice(["table", "json"]), default="table", show_default=True, help="of the output"
)


def limit_option(default: int) -> Callable[[_Command], _Command]:
    return click.option(
        "--limit", type=click.IntRange(min=1), default=default, show_default=True, help="most that are shown"
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


def seconds(value: float | None) -> str | None:
    """`0.31 s`, `12.0 s`, `4 min`"""
    if value is None:
        return None
    if abs(value) >= 600:
        return f"{value / 60:.0f} min"
    return f"{value:.2f} s" if abs(value) < 10 else f"{value:.1f} s"


def minutes(value: float | None) -> str | None:
    """`5 min`, `3.2 h`, `2.5 days`"""
    if value is None:
        return None
    if value < 120:
        return f"{value:.0f} min"
    return f"{value / 60:.1f} h" if value < 48 * 60 else f"{value / 60 / 24:.1f} days"


def size(value: int | None) -> str | None:
    """Bytes with a unit."""
    if value is None:
        return None
    number = float(value)
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TB"


def count(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def at(text: str) -> str:
    """A time of an operation, in the zone of this machine."""
    return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M:%S}"
