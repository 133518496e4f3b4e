"""UNION ALL whose branches differ in type: each branch is cast to the type of the whole.

Spark considers all rows of VALUES, but widens a chain of UNION from the left, two branches at a time: of an
INT, a DOUBLE and a STRING the first becomes '1' in VALUES and '1.0' in UNION. In a delta some branches are
missing, so we write the casts explicitly; otherwise `1` and `1.0` would be the same row in the query but
different rows in its delta.
"""

from __future__ import annotations

from collections.abc import Sequence

from sparkivm.algebra import OneRow, Project, Relation, Scalar, UnionAll
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.errors import NotIncremental
from sparkivm.plan.types_of import TypesOf
from sparkivm.reasons import Reason
from sparkivm.spark.data_types import VOID, SparkType


def align_unions(relation: Relation, types_of: TypesOf) -> Relation:
    def align(node: Relation) -> Relation:
        if not isinstance(node, UnionAll):
            return node
        branches = _in_pairs(node, types_of) if node.in_pairs else _at_once(node, types_of)
        aligned = branches == list(node.inputs) and not node.in_pairs
        return node if aligned else UnionAll(tuple(branches))

    return rewrite(relation, align)


def _at_once(node: UnionAll, types_of: TypesOf) -> list[Relation]:
    own = [types_of(branch) for branch in node.inputs]
    if _are_values(node):
        _check_float(own)
    wanted = own[0] if all(types == own[0] for types in own) else types_of(node)
    return [_cast(branch, types, wanted) for branch, types in zip(node.inputs, own, strict=True)]


def _are_values(node: UnionAll) -> bool:
    return all(isinstance(row, Project) and isinstance(row.input, OneRow) for row in node.inputs)


def _check_float(rows: Sequence[tuple[SparkType, ...]]) -> None:
    """Raises: NotIncremental if a column of VALUES mixes FLOAT with other types.

    With ANSI on, Spark makes FLOAT of INT and FLOAT there, but DOUBLE in a UNION.
    """
    for column_types in zip(*rows, strict=True):
        types = {*column_types} - {VOID}
        if len(types) > 1 and any(type_.holds("float") for type_ in types):
            raise NotIncremental(Reason.SQL_NOT_UNDERSTOOD, "VALUES that mix FLOAT with other types")


def _in_pairs(node: UnionAll, types_of: TypesOf) -> list[Relation]:
    first, *others = node.inputs
    branches, types = [first], types_of(first)
    for branch in others:
        own = types_of(branch)
        pair = UnionAll((branches[0], branch))
        wanted = types if _is_no_wider(own, types) else types_of(pair)
        branches = [*(_cast(one, types, wanted) for one in branches), _cast(branch, own, wanted)]
        types = wanted
    return branches


def _is_no_wider(own: tuple[SparkType, ...], types: tuple[SparkType, ...]) -> bool:
    return all(mine in (type_, VOID) for mine, type_ in zip(own, types, strict=True))


def _cast(relation: Relation, types: tuple[SparkType, ...], wanted: tuple[SparkType, ...]) -> Relation:
    if types == wanted:
        return relation
    items: list[tuple[str, Scalar]] = []
    for name, type_, target in zip(relation.columns, types, wanted, strict=True):
        scalar = column(name) if type_ == target else expression(f"cast(x as {target.cast_text})", x=name)
        items.append((name, scalar))
    return Project(relation, tuple(items))
