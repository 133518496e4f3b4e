"""Scalar expressions written as SQL text, for the formulas of rules."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp

from sparkivm.algebra.scalar import Scalar, column, replace_nodes


@lru_cache(maxsize=1024)
def _parsed(text: str) -> exp.Expr:
    return sqlglot.parse_one(text, dialect="spark")


def expression(text: str, **names: str | Scalar) -> Scalar:
    """The expression `text`, with each name replaced by a column or another expression."""
    return _expression(text, tuple(names.items()))


@lru_cache(maxsize=4096)
def _expression(text: str, names: tuple[tuple[str, str | Scalar], ...]) -> Scalar:
    scalars = {name: column(value) if isinstance(value, str) else value for name, value in names}
    tree = replace_nodes(
        _parsed(text),
        lambda node: (
            scalars[node.name].tree if isinstance(node, exp.Column) and node.name in scalars else None
        ),
    )
    return Scalar(tree)
