"""Columns that compare equal although they differ: '1' and '01' both equal the number 1.

Rules look up keys under the name of an equal column, and treat equal columns as identical. That is correct if
equal values of both types are identical. Other comparisons are written so that no rule recognizes them as an
equality of columns: they only decide which rows match.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparkivm.algebra import Aggregate, Generate, Relation, Repeat, Scalar, Window
from sparkivm.algebra.membership import Membership, as_equalities, memberships
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import conjunction, conjuncts, equality, opaque
from sparkivm.errors import NotIncremental
from sparkivm.plan.types_of import TypesOf, column_types
from sparkivm.reasons import Reason

# Operators whose expressions compute values; in all others they decide which rows match or are counted. What
# a Project computes may be a filter's condition above it: normalization puts it there.
_COMPUTING = (Generate, Repeat, Window)

_Column = tuple[Relation, str]  # a column of a relation


def with_exact_equalities(relation: Relation, types_of: TypesOf) -> Relation:
    """The same relation, in which the columns of each equality have types whose equal values are identical.

    Raises: NotIncremental where IN compares other types, because it has a comparison rule of its own.
    """
    compared = [found for node in relation.walk() for found in _compared(node)]
    if not compared:
        return relation
    origins = list(dict.fromkeys(column for found in compared for column in found.origins))
    types = dict(zip(origins, column_types(origins, types_of), strict=True))
    # By name. If several columns share one, a single inexact one makes all of them inexact.
    inexact: set[tuple[str, str]] = set()
    for found in compared:
        one, other = (types[column] for column in found.origins)
        if one.same_when_equal(other):
            continue
        if found.within is not None:
            detail = f"IN compares {one} with {other}, which differs from ="
            raise NotIncremental(Reason.TYPE_NOT_SUPPORTED, detail, found.within.place)
        inexact.add(found.pair)

    def written(predicate: Scalar) -> Scalar:
        return opaque(predicate) if _pair(predicate) in inexact else predicate

    def change(scalar: Scalar) -> Scalar:
        return as_equalities(conjunction(map(written, conjuncts(scalar))) or scalar)

    def changed(node: Relation) -> Relation:
        return node if isinstance(node, _COMPUTING) else node.with_scalars(change)

    needs_change = inexact or any(found.within for found in compared)
    return rewrite(relation, changed) if needs_change else relation


@dataclass(frozen=True)
class _Compared:
    """Two columns that an operator compares, and where each comes from.

    within  the IN that compares them; None for =
    """

    pair: tuple[str, str]
    origins: tuple[_Column, _Column]
    within: Membership | None = None


def _compared(node: Relation) -> Iterator[_Compared]:
    if isinstance(node, _COMPUTING):
        return

    def of(one: str, other: str, within: Membership | None = None) -> _Compared:
        return _Compared((one, other), (_origin(node, one), _origin(node, other)), within)

    for scalar in node.scalars:
        for within in memberships(scalar):
            yield of(within.operand, within.value, within)
        if isinstance(node, Aggregate):
            continue  # what it counts by does not hold for the result's rows
        for pair in filter(None, map(_pair, conjuncts(scalar))):
            yield of(*pair)


def _pair(predicate: Scalar) -> tuple[str, str] | None:
    found = equality(predicate)
    return found[:2] if found else None


def _origin(node: Relation, name: str) -> _Column:
    """The origin of a column below `node`."""
    return next(child for child in node.children if name in child.columns).origin(name)
