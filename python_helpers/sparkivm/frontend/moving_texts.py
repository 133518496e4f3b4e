"""Texts that mean another date or time each day, where Spark reads them as one: 'today', '08:00'.

Spark takes the four words where it casts a constant to a date or timestamp, and fills in today's date for a
text that has only a time. Whether it casts one, only its optimizer shows (refresh/model/gate.py).

tested  tests/unit/test_accepted_expressions.py, tests/unit/test_gate.py, tests/spark/test_moving_texts.py
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from sqlglot import exp

_MOVES = re.compile(r"\s*(now|today|tomorrow|yesterday|t\d|\d{1,2}(?=:))", re.IGNORECASE)
_PRIVATE_USE = 0xE000  # the first of 6,400 characters that no text has


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


def moving_texts(tree: exp.Expr) -> list[exp.Expr]:
    """All such texts."""
    return [node for node in tree.walk() if moving_word(node)]


def with_other_words(tree: exp.Expr, numbers: Collection[int]) -> tuple[exp.Expr, Mapping[str, str]]:
    """The tree with another word in some of its texts, and the words by what replaces them."""
    changed = tree.copy()
    nodes = [node for number, node in enumerate(moving_texts(changed)) if number in numbers]
    words = sorted({moving_word(node) for node in nodes})
    others = {word: chr(_PRIVATE_USE + number) * len(word) for number, word in enumerate(words)}
    for node in nodes:
        word = moving_word(node)
        node.replace(exp.Literal.string(node.name.replace(word, others[word], 1)))
    return changed, {other: word for word, other in others.items()}
