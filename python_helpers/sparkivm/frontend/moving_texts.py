"""Texts that mean another date or time each day, where Spark reads them as one: 'today', '08:00'.

Spark takes the four words where it casts a constant to a date or timestamp, and fills in today's date for a
text that has only a time. Whether it casts one, only its optimizer shows (refresh/model/gate.py).

tested  tests/unit/test_accepted_expressions.py, tests/unit/test_gate.py, tests/spark/test_moving_texts.py
"""

from __future__ import annotations

import re

from sqlglot import exp

_MOVES = re.compile(r"\s*(now|today|tomorrow|yesterday|t\d|\d{1,2}(?=:))", re.IGNORECASE)


def moving_word(node: exp.Expr) -> str:
    """What makes a node such a text, whatever Spark reads it as; "" if nothing does."""
    is_text = isinstance(node, exp.RawString) or (isinstance(node, exp.Literal) and node.is_string)
    found = _MOVES.match(node.name) if is_text else None
    return found[1] if found else ""


def moves(node: exp.Expr) -> bool:
    """Whether a node casts such a text to a date or timestamp."""
    return (
        isinstance(node, exp.Cast)
        and node.to.is_type(*exp.DataType.TEMPORAL_TYPES)
        and moving_word(node.this) != ""
    )


def with_another_word(tree: exp.Expr, word: str, other: str) -> exp.Expr:
    """The tree with another word in all such texts that begin with one."""

    def changed(node: exp.Expr) -> exp.Expr:
        return exp.Literal.string(node.name.replace(word, other)) if moving_word(node) == word else node

    return tree.transform(changed)
