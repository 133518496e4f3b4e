"""Moments stand in filters and projections alone: what else reads one reads a column that holds it.

A ⋈_{p(now)} B = σ_{p(now)}(A × B)
f_{now}(A, …) = f_c(π_{*, now as c}(A), …)   for LEFT, FULL and SEMI JOIN, aggregates, windows, generators
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sparkivm.algebra import (
    Aggregate,
    Filter,
    FullJoin,
    Generate,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    Project,
    Relation,
    Scalar,
    SemiJoin,
    Window,
)
from sparkivm.algebra.moment import at, moment, moments
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column, conjunction

Change = Callable[[Scalar], Scalar]


def lift_moments(relation: Relation) -> Relation:
    return rewrite(relation, _lifted)


def _lifted(node: Relation) -> Relation:
    if isinstance(node, InnerJoin):
        moving = tuple(p for p in node.predicates if moments(p))
        above = conjunction(moving)
        rest = tuple(p for p in node.predicates if not moments(p))
        return node if above is None else Filter(replace(node, predicates=rest), above)
    read: set[str] = set()

    def collected(scalar: Scalar) -> Scalar:
        read.update(moments(scalar))
        return at(scalar, lambda key, _: column(key).tree)

    changed = _with_scalars(node, collected)
    if not read:
        return node
    first, *others = changed.children
    passed = tuple((name, column(name)) for name in first.columns)
    below = Project(first, (*passed, *((key, moment(key)) for key in sorted(read))))
    lifted = changed.with_children((below, *others))
    return lifted if lifted.columns == node.columns else only(lifted, node.columns)


def _with_scalars(node: Relation, change: Change) -> Relation:
    """The operator with other expressions; one that has none, or may read moments, stays as it is."""
    match node:
        case LeftJoin() | FullJoin() | SemiJoin():
            residual = tuple(map(change, node.on.residual))
            return replace(node, on=JoinCondition(node.on.pairs, residual))
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
        case Generate():
            return replace(node, generator=change(node.generator))
        case _:
            return node
