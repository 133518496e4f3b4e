"""UNION ALL whose branches differ in type: each branch is cast to the type of the whole.

Spark widens a chain of branches from its left end, two at a time: of an INT, a DOUBLE and a STRING the first
becomes '1.0', not '1'. In a delta some branches are missing, so the casts are made explicit; otherwise `1`
and `1.0` would be the same row in the query and different ones in its delta.
"""

from __future__ import annotations

from sparkivm.algebra import Project, Relation, Scalar, UnionAll
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.cast_types import cast_type
from sparkivm.plan.types_of import TypesOf

_NULL = "void"  # the type of NULL, which any other type widens


def align_unions(relation: Relation, types_of: TypesOf) -> Relation:
    def align(node: Relation) -> Relation:
        if not isinstance(node, UnionAll):
            return node
        first, *others = node.inputs
        branches, types = [first], types_of(first)
        for branch in others:
            own = types_of(branch)
            pair = UnionAll((branches[0], branch))
            wanted = types if _is_no_wider(own, types) else types_of(pair)
            branches = [*(_cast(one, types, wanted) for one in branches), _cast(branch, own, wanted)]
            types = wanted
        return node if branches == list(node.inputs) else UnionAll(tuple(branches))

    return rewrite(relation, align)


def _is_no_wider(own: tuple[str, ...], types: tuple[str, ...]) -> bool:
    return all(mine in (type_, _NULL) for mine, type_ in zip(own, types, strict=True))


def _cast(relation: Relation, types: tuple[str, ...], wanted: tuple[str, ...]) -> Relation:
    if types == wanted:
        return relation
    items: list[tuple[str, Scalar]] = []
    for name, type_, target in zip(relation.columns, types, wanted, strict=True):
        scalar = column(name) if type_ == target else expression(f"cast(x as {cast_type(target)})", x=name)
        items.append((name, scalar))
    return Project(relation, tuple(items))
