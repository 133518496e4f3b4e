"""A row has one match at most among groups that it is compared with by all of their keys: IN becomes a join.

A ⋉_on B = π_A(A ⋈_on B)    B = groups by keys k, `on` holds a = k for each of them

The change of a join is a sum of joins; a semi-join has to find out of each key whether a match was its last.
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
    """Whether no two rows have the same values in `columns`."""
    match relation:
        case Aggregate():
            return bool(relation.keys) and columns.issuperset(relation.keys)
        case Filter():
            return _is_unique(relation.input, columns)
        case Project():
            sources = (scalar.as_column for name, scalar in relation.items if name in columns)
            return _is_unique(relation.input, frozenset(source for source in sources if source))
        case _:
            return False
