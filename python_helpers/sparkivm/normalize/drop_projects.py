"""Drops projections that only leave out columns: columns are pruned later, and joins become adjacent.

π_c(A) = A    columns are known by name, and only UNION ALL depends on their order or number
"""

from __future__ import annotations

from dataclasses import replace

from sparkivm.algebra import Project, Relation, UnionAll


def drop_projects(relation: Relation) -> Relation:
    if isinstance(relation, UnionAll):
        return UnionAll(tuple(_below(child) for child in relation.inputs))
    if isinstance(relation, Project) and all(scalar.as_column == name for name, scalar in relation.items):
        return drop_projects(relation.input)
    return relation.with_children(tuple(drop_projects(child) for child in relation.children))


def _below(relation: Relation) -> Relation:
    """An input of a union keeps its own projection."""
    if isinstance(relation, Project):
        return replace(relation, input=drop_projects(relation.input))
    return drop_projects(relation)
