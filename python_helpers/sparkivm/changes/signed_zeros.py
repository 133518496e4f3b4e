"""Grouping that separates -0.0 from 0.0: GROUP BY treats them as equal, but expressions do not."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sparkivm.names import quoted


def grouped(fields: Sequence[str], floats: Collection[str]) -> tuple[list[str], list[str]]:
    """SELECT items and GROUP BY keys that group only rows that every expression treats alike.

    floats  those of the fields that are FLOAT or DOUBLE, or contain some
    """
    items = [
        f"first({quoted(name)}) as {quoted(name)}" if name in floats else quoted(name) for name in fields
    ]
    keys = [quoted(name) for name in fields] + [as_text(quoted(name)) for name in fields if name in floats]
    return items, keys


def as_text(column: str) -> str:
    """A text in which -0.0 and 0.0 differ."""
    return f"cast({column} as string)"
