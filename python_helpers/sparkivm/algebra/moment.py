"""Moments: the date or time of a refresh, as an expression sees it.

A moment is a constant that has another value in the next refresh. So it is listed among the tables that an
operator reads, and may be among those that changed. Filter and Project have a term for it; all other
operators see it as a column of their input (normalize/lift_moments.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from sparkivm.algebra.scalar import Scalar, replace_nodes
from sparkivm.names import RESERVED_PREFIX

_PREFIX = f"{RESERVED_PREFIX}at_"
_BEFORE = "@before"

# Spark's functions, each with the moment that it returns.
MOMENTS = {
    "current_date": f"{_PREFIX}current_date",
    "curdate": f"{_PREFIX}current_date",
    "current_timestamp": f"{_PREFIX}current_timestamp",
    "now": f"{_PREFIX}current_timestamp",
    "localtimestamp": f"{_PREFIX}localtimestamp",
}


def moment(name: str) -> Scalar:
    """The moment with this key, at the refresh."""
    return Scalar(exp.Placeholder(this=name))


def is_moment(key: str) -> bool:
    """Whether a key that a relation reads belongs to a moment rather than a table."""
    return key.startswith(_PREFIX)


def function_of(key: str) -> exp.Expr:
    """The call that returns a moment, where its value does not matter."""
    return exp.Anonymous(this=key.removeprefix(_PREFIX))


def moments(scalar: Scalar) -> frozenset[str]:
    """Keys of the moments in an expression."""
    return frozenset(_key(node) for node in scalar.tree.find_all(exp.Placeholder))


def before(scalar: Scalar) -> Scalar:
    """The expression at the moments of the frontier."""
    if not moments(scalar):
        return scalar
    return _replaced(scalar, lambda node: exp.Placeholder(this=_key(node) + _BEFORE))


def at(scalar: Scalar, text_of: Callable[[str, bool], exp.Expr]) -> Scalar:
    """The expression with values in place of moments; `text_of` gets a key, and whether it is the old one."""
    if not moments(scalar):
        return scalar
    return _replaced(scalar, lambda node: text_of(_key(node), str(node.this).endswith(_BEFORE)))


def shown(scalar: Scalar) -> str:
    """The expression for people to read, with moments as calls."""

    def call(key: str, before: bool) -> exp.Expr:
        return exp.Anonymous(this=f"old_{key.removeprefix(_PREFIX)}") if before else function_of(key)

    return at(scalar, call).sql("spark")


def all_shown(scalars: Iterable[Scalar]) -> str:
    """A condition for people to read, empty without a condition."""
    return " and ".join(map(shown, scalars))


def _key(node: exp.Expr) -> str:
    return str(node.this).removesuffix(_BEFORE)


def _replaced(scalar: Scalar, value: Callable[[exp.Expr], exp.Expr]) -> Scalar:
    tree = replace_nodes(scalar.tree, lambda node: value(node) if isinstance(node, exp.Placeholder) else None)
    return Scalar(tree)
