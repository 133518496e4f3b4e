"""The place of a node in the model's SQL."""

from __future__ import annotations

from sqlglot import exp

from sparkivm.errors import NotIncremental
from sparkivm.reasons import Place, Reason

_LONGEST_EXCERPT = 80


def place_of(node: exp.Expr | None) -> Place | None:
    """The first known position of a node or a part of it."""
    if node is None:
        return None
    for part in node.walk():
        if "line" in part.meta:
            text = node.sql(dialect="spark")
            short = text if len(text) <= _LONGEST_EXCERPT else text[: _LONGEST_EXCERPT - 1] + "…"
            length = part.meta["end"] - part.meta["start"]
            return Place(part.meta["line"], max(1, part.meta["col"] - length), short)
    return None


def not_incremental(reason: Reason, detail: str, node: exp.Expr | None = None) -> NotIncremental:
    return NotIncremental(reason, detail, place_of(node))


def not_supported(what: str, node: exp.Expr | None = None) -> NotIncremental:
    """The refusal of a construct without a rule."""
    return not_incremental(Reason.OPERATOR_NOT_SUPPORTED, what, node)


def not_understood(what: str, node: exp.Expr | None = None) -> NotIncremental:
    """The refusal of SQL that we may read differently than Spark."""
    return not_incremental(Reason.SQL_NOT_UNDERSTOOD, what, node)


def not_deterministic(what: str, node: exp.Expr | None = None) -> NotIncremental:
    """The refusal of what has another value each time it is computed."""
    return not_incremental(Reason.NON_DETERMINISTIC_EXPRESSION, what, node)
