"""Where a column comes from, as far as it is passed on as it is."""

from __future__ import annotations

from sparkivm.algebra.aggregate import Aggregate
from sparkivm.algebra.project import Project
from sparkivm.algebra.relation import Relation
from sparkivm.algebra.union_all import UnionAll


def origin(relation: Relation, name: str) -> tuple[Relation, str]:
    """The relation that has the column first, and its name there.

    That is where it is read or computed, or a UNION ALL, of which each branch has its own.
    """
    match relation:
        case Project():
            # There is no item for a column of the query around this one.
            item = dict(relation.items).get(name)
            source = None if item is None else item.as_column
            return (relation, name) if source is None else origin(relation.input, source)
        case Aggregate() if name not in relation.keys:
            return relation, name
        case UnionAll():
            return relation, name
    owner = next((child for child in relation.children if name in child.columns), None)
    return (relation, name) if owner is None else origin(owner, name)
