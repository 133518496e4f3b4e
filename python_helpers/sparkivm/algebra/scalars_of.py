"""The expressions that an operator holds, and the operator with others in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import chain

from sparkivm.algebra.aggregate import Aggregate
from sparkivm.algebra.filter import Filter
from sparkivm.algebra.generate import Generate
from sparkivm.algebra.inner_join import InnerJoin
from sparkivm.algebra.inputs import TwoSides
from sparkivm.algebra.join_condition import JoinCondition
from sparkivm.algebra.project import Project
from sparkivm.algebra.relation import Relation
from sparkivm.algebra.repeat import Repeat
from sparkivm.algebra.scalar import Scalar, conjunction, conjuncts
from sparkivm.algebra.window import Window

Change = Callable[[Scalar], Scalar]


def scalars_of(node: Relation) -> list[Scalar]:
    """The expressions of one operator, its predicates conjunct by conjunct."""
    found: list[Scalar] = []

    def kept(scalar: Scalar) -> Scalar:
        found.append(scalar)
        return scalar

    _with_scalars(node, kept)
    return found


def with_scalars(node: Relation, change: Change) -> Relation:
    """The operator with each of `scalars_of` changed; the same object if none is."""
    changed: list[bool] = []

    def tried(scalar: Scalar) -> Scalar:
        new = change(scalar)
        changed.append(new is not scalar)
        return new

    new = _with_scalars(node, tried)
    return new if any(changed) else node


def _with_scalars(node: Relation, change: Change) -> Relation:
    match node:
        case Filter():
            return replace(
                node, predicate=conjunction(map(change, conjuncts(node.predicate))) or node.predicate
            )
        case InnerJoin():
            return replace(node, predicates=tuple(map(change, _all_conjuncts(node.predicates))))
        case TwoSides():
            predicates = map(change, _all_conjuncts(node.predicates))
            return replace(node, on=JoinCondition.of(predicates, node.left.columns, node.right.columns))
        case Project():
            return replace(node, items=tuple((name, change(scalar)) for name, scalar in node.items))
        case Generate():
            return replace(node, generator=change(node.generator))
        case Repeat():
            return replace(node, times=change(node.times))
        case Aggregate():
            calls = (
                replace(call, argument=change(call.argument)) if call.argument is not None else call
                for call in node.calls
            )
            return replace(node, calls=tuple(calls))
        case Window():
            windows = (
                replace(
                    call,
                    call=change(call.call),
                    order=tuple(replace(one, key=change(one.key)) for one in call.order),
                )
                for call in node.calls
            )
            return replace(node, calls=tuple(windows))
        case _:
            return node


def _all_conjuncts(predicates: Iterable[Scalar]) -> tuple[Scalar, ...]:
    return tuple(chain.from_iterable(map(conjuncts, predicates)))
