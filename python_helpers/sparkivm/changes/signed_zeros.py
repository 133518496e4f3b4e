"""Rows grouped with -0.0 apart from 0.0, which grouping takes for one and expressions do not."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sparkivm.names import quoted


def grouped(fields: Sequence[str], floats: Collection[str]) -> tuple[list[str], list[str]]:
    """SELECT items and GROUP BY keys by which rows are one if they are one to every expression.

    floats  those of the fields that are FLOAT or DOUBLE, or have some inside
    """
    items = [
        f"first({quoted(name)}) as {quoted(name)}" if name in floats else quoted(name) for name in fields
    ]
    keys = [quoted(name) for name in fields] + [as_text(quoted(name)) for name in fields if name in floats]
    return items, keys


def as_text(column: str) -> str:
    """What tells -0.0 from 0.0."""
    return f"cast({column} as string)"
