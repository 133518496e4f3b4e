"""Moves moments into filters and projections: any other operator reads a column that holds the moment.

A ⋈_{p(now)} B = σ_{p(now)}(A × B)
f_{now}(A, …) = f_c(π_{*, now as c}(A), …)   for LEFT, FULL and SEMI JOIN, aggregates, windows, generators
"""

from __future__ import annotations

from dataclasses import replace

from sparkivm.algebra import Filter, InnerJoin, Project, Relation, Scalar
from sparkivm.algebra.moment import at, moment, moments
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column, conjunction


def lift_moments(relation: Relation) -> Relation:
    return rewrite(relation, _lifted)


def _lifted(node: Relation) -> Relation:
    if isinstance(node, InnerJoin):
        moving = tuple(p for p in node.predicates if moments(p))
        above = conjunction(moving)
        rest = tuple(p for p in node.predicates if not moments(p))
        return node if above is None else Filter(replace(node, predicates=rest), above)
    if isinstance(node, (Filter, Project)):
        return node
    read: set[str] = set()

    def collected(scalar: Scalar) -> Scalar:
        read.update(moments(scalar))
        return at(scalar, lambda key, _: column(key).tree)

    changed = node.with_scalars(collected)
    if not read:
        return node
    first, *others = changed.children
    passed = tuple((name, column(name)) for name in first.columns)
    below = Project(first, (*passed, *((key, moment(key)) for key in sorted(read))))
    lifted = changed.with_children((below, *others))
    return lifted if lifted.columns == node.columns else only(lifted, node.columns)
