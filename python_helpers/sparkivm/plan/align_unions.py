"""UNION ALL whose branches differ in type: each branch is cast to the type of the whole.

Spark widens the branches by looking at all of them. In a delta some branches are missing, so the casts are
made explicit; otherwise `1` and `1.0` would be the same row in the query and different ones in its delta.
"""

from __future__ import annotations

from sparkivm.algebra import Project, Relation, Scalar, UnionAll
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.cast_types import cast_type
from sparkivm.plan.types_of import TypesOf


def align_unions(relation: Relation, types_of: TypesOf) -> Relation:
    def align(node: Relation) -> Relation:
        if not isinstance(node, UnionAll):
            return node
        branch_types = [types_of(child) for child in node.inputs]
        if all(types == branch_types[0] for types in branch_types):
            return node
        wanted = types_of(node)
        return UnionAll(
            tuple(_cast(child, types, wanted) for child, types in zip(node.inputs, branch_types, strict=True))
        )

    return rewrite(relation, align)


def _cast(relation: Relation, types: tuple[str, ...], wanted: tuple[str, ...]) -> Relation:
    items: list[tuple[str, Scalar]] = []
    for name, type_, target in zip(relation.columns, types, wanted, strict=True):
        scalar = column(name) if type_ == target else expression(f"cast(x as {cast_type(target)})", x=name)
        items.append((name, scalar))
    return Project(relation, tuple(items))
