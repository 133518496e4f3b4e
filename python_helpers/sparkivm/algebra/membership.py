"""How IN compares an operand with a value of its subquery.

Spark widens the types of both before it compares them, while = may narrow one: 1 = '01' is true, but
1 IN (SELECT '01') is not. So IN becomes = if equal values of both types are identical, and has no rule
otherwise. Only Spark knows the types, so we mark the comparison until we have asked for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from sparkivm.algebra.scalar import Scalar, equal, opaque, replace_nodes
from sparkivm.reasons import Place

_MARK = "membership"


@dataclass(frozen=True)
class Membership:
    """A comparison that IN makes."""

    operand: str
    value: str
    place: Place | None


def membership(operand: str, value: str, place: Place | None) -> Scalar:
    """The comparison of two columns, marked; no rule takes it for an equality."""
    compared = opaque(equal(operand, value))
    compared.tree.meta[_MARK] = place
    return compared


def memberships(scalar: Scalar) -> Iterator[Membership]:
    """The memberships in an expression."""
    for tree in scalar.tree.find_all(exp.EQ):
        if _MARK in tree.meta:
            yield Membership(tree.this.name, tree.expression.this.name, tree.meta[_MARK])


def as_equalities(scalar: Scalar) -> Scalar:
    """The expression with = in place of its memberships."""
    if not any(memberships(scalar)):
        return scalar
    return Scalar(
        replace_nodes(
            scalar.tree,
            lambda node: (
                equal(node.this.name, node.expression.this.name).tree
                if isinstance(node, exp.EQ) and _MARK in node.meta
                else None
            ),
        )
    )
