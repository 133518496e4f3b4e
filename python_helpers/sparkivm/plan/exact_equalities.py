"""Columns that compare as equal though they are not: '1' and '01' both equal the number 1.

Rules look keys up under the name of an equal column, and take what equals the same for the same. That holds
where equal values of both types are one value. Other comparisons are written so that no rule takes them for
an equality of columns: they decide which rows match, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from sqlglot import exp

from sparkivm.algebra import (
    Aggregate,
    Filter,
    FullJoin,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    UnionAll,
)
from sparkivm.algebra.membership import as_equalities, memberships
from sparkivm.algebra.project import renamed
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import conjunction, conjuncts, equality
from sparkivm.errors import InternalError, NotIncremental
from sparkivm.plan.types_of import TypesOf
from sparkivm.reasons import Fallback, Reason

_DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)")
_DIGITS = {
    "tinyint": 3,
    "smallint": 5,
    "int": 10,
    "bigint": 20,
}  # of the decimals that Spark compares them as
_MOST_DIGITS = 38
_EXACT = ({"float", "double"}, {"date", "timestamp"}, {"date", "timestamp_ntz"})


def with_exact_equalities(relation: Relation, types_of: TypesOf) -> Relation:
    """The same relation, in which each equality of two columns is one of values of both types.

    Raises: NotIncremental where IN compares others, as it does so by a rule of its own.
    """
    compared = [(node, pair) for node in relation.walk() for pair in _compared(node)]
    within = [(node, one) for node in relation.walk() for p in _scalars(node) for one in memberships(p)]
    if not compared and not within:
        return relation
    pairs = chain(compared, ((node, (one.operand, one.value)) for node, one in within))
    columns = dict.fromkeys(_origin(node, name) for node, pair in pairs for name in pair)
    types = dict(zip(columns, _types(list(columns), types_of), strict=True))
    for node, one in within:
        operand, value = (types[_origin(node, name)] for name in (one.operand, one.value))
        if not same_when_equal(operand, value):
            detail = f"IN compares {operand} with {value}, not as = does"
            raise NotIncremental(Fallback(Reason.TYPE_NOT_SUPPORTED, detail, one.place))
    # By name, which may stand for several columns: then all are taken for what one of them is.
    inexact = {
        pair for node, pair in compared if not same_when_equal(*(types[_origin(node, name)] for name in pair))
    }

    def change(node: Relation) -> Relation:
        scalars = _scalars(node)
        new = [_opaque(one) if _pair(one) in inexact else as_equalities(one) for one in scalars]
        same = all(one is other for one, other in zip(scalars, new, strict=True))
        return node if same else _with_scalars(node, new)

    return rewrite(relation, change) if inexact or within else relation


def same_when_equal(one: str, other: str) -> bool:
    """Whether values of two Spark types that compare as equal are the same value."""
    if one == other or {one, other} in _EXACT or "void" in (one, other):
        return True
    shapes = _decimal(one), _decimal(other)
    if None in shapes:
        return False
    whole, fraction = (max(shape[i] for shape in shapes if shape) for i in (0, 1))
    return whole + fraction <= _MOST_DIGITS


def _decimal(type_: str) -> tuple[int, int] | None:
    """Digits before and after the point."""
    if type_ in _DIGITS:
        return _DIGITS[type_], 0
    found = _DECIMAL.fullmatch(type_)
    return (int(found[1]) - int(found[2]), int(found[2])) if found else None


def _origin(node: Relation, name: str) -> tuple[Relation, str]:
    """Where a column below `node` comes from, as far as it is passed on as it is."""
    owner = next(child for child in node.children if name in child.columns)
    match owner:
        case Project():
            source = dict(owner.items)[name].as_column
            return (owner, name) if source is None else _origin(owner, source)
        case Aggregate() if name not in owner.keys:
            return owner, name
        case UnionAll():  # of which each branch may have its own type
            return owner, name
        case _ if any(name in child.columns for child in owner.children):
            return _origin(owner, name)
        case _:
            return owner, name


def _types(origins: Sequence[tuple[Relation, str]], types_of: TypesOf) -> tuple[str, ...]:
    """Of columns of different relations, asked at once."""
    columns = [renamed(relation, [(f"c{i}", name)]) for i, (relation, name) in enumerate(origins)]
    return types_of(InnerJoin(tuple(columns), ()) if len(columns) > 1 else columns[0])


def _scalars(node: Relation) -> list[Scalar]:
    """The conjuncts that a node compares its rows by, or the arguments of its aggregates."""
    match node:
        case Filter():
            return list(conjuncts(node.predicate))
        case InnerJoin():
            return list(chain.from_iterable(map(conjuncts, node.predicates)))
        case LeftJoin() | FullJoin() | SemiJoin():
            return list(chain.from_iterable(map(conjuncts, node.on.predicates)))
        case Aggregate():
            return [call.argument for call in node.calls if call.argument is not None]
        case _:
            return []


def _with_scalars(node: Relation, scalars: list[Scalar]) -> Relation:
    match node:
        case Filter():
            return replace(node, predicate=conjunction(scalars) or node.predicate)
        case InnerJoin():
            return replace(node, predicates=tuple(scalars))
        case LeftJoin() | FullJoin() | SemiJoin():
            return replace(node, on=JoinCondition.of(scalars, node.left.columns, node.right.columns))
        case Aggregate():
            rest = iter(scalars)
            calls = (
                replace(call, argument=next(rest)) if call.argument is not None else call
                for call in node.calls
            )
            return replace(node, calls=tuple(calls))
        case _:
            raise InternalError(f"{type(node).__name__} compares nothing")


def _compared(node: Relation) -> list[tuple[str, str]]:
    """Columns that are equal in what comes out of a node."""
    if isinstance(node, Aggregate):
        return []
    return [pair for scalar in _scalars(node) if (pair := _pair(scalar))]


def _pair(predicate: Scalar) -> tuple[str, str] | None:
    found = equality(predicate)
    return found[:2] if found else None


def _opaque(predicate: Scalar) -> Scalar:
    """The same comparison, of a column with an expression."""
    tree = predicate.tree.copy()
    tree.set("expression", exp.Coalesce(this=tree.expression, expressions=[]))
    return Scalar(tree)
