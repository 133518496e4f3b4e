"""IN becomes a join: a row that is compared with all keys of groups matches at most one group.

A ⋉_on B = π_A(A ⋈_on B)    B = groups by keys k, `on` holds a = k for each of them

The delta of a join is a sum of joins; a semi-join must find out for each key whether a match was its last.
"""

from __future__ import annotations

from sparkivm.algebra import Aggregate, Filter, InnerJoin, Project, Relation, SemiJoin
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import rewrite


def join_groups(relation: Relation) -> Relation:
    return rewrite(relation, _joined)


def _joined(node: Relation) -> Relation:
    if not isinstance(node, SemiJoin) or node.anti:
        return node
    compared = frozenset(pair.right for pair in node.on.pairs)
    if not _is_unique(node.right, compared):
        return node
    return only(InnerJoin((node.left, node.right), node.predicates), node.left.columns)


def _is_unique(relation: Relation, columns: frozenset[str]) -> bool:
    """Whether it is groups below filters and projections, and `columns` include all of their keys."""
    while isinstance(relation, (Filter, Project)):
        sources = (relation.source_of(name) for name in columns)
        columns = frozenset(source[1] for source in sources if source is not None)
        relation = relation.input
    return isinstance(relation, Aggregate) and bool(relation.keys) and columns.issuperset(relation.keys)
