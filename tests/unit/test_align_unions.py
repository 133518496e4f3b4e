"""The types of a chain of UNION are widened from the left, two branches at a time, in every column."""

from __future__ import annotations

import pytest

from sparkivm.algebra import OneRow, Project, Relation, Scan, UnionAll
from sparkivm.algebra.sql_expression import expression
from sparkivm.errors import NotIncremental
from sparkivm.plan.align_unions import align_unions
from sparkivm.spark.data_types import SparkType, spark_type

_WIDEST_LAST = ("void", "int", "bigint", "double", "string")


def branch(types: str) -> Scan:
    """A table with columns of these types; it is named after them."""
    return Scan(types, tuple((f"c{i}", f"c{i}") for i, _ in enumerate(types.split())))


def types_of(relation: Relation) -> tuple[SparkType, ...]:
    """As Spark has them, for tables and for unions of two."""
    if isinstance(relation, Scan):
        return tuple(map(spark_type, relation.table.split()))
    if isinstance(relation, OneRow):
        return ()
    if isinstance(relation, Project):
        types = dict(zip(relation.input.columns, types_of(relation.input), strict=True))
        casts = {name: scalar.tree.args.get("to") for name, scalar in relation.items}
        return tuple(spark_type(to.sql("spark").lower()) if to else types[name] for name, to in casts.items())
    assert isinstance(relation, UnionAll)
    columns = zip(*map(types_of, relation.inputs), strict=True)
    return tuple(max(types, key=lambda one: _WIDEST_LAST.index(one.word)) for types in columns)


@pytest.mark.parametrize(
    ("branches", "aligned"),
    [
        (["int int", "int int"], "int int"),
        (["int int", "int double"], "int double"),
        (["int int", "double int"], "double int"),
        (["bigint int", "int bigint"], "bigint bigint"),
        (["int string", "double int", "int void"], "double string"),
        (["void int", "int void"], "int int"),
    ],
)
def test_every_branch_has_the_type_of_the_whole(branches, aligned):
    union = align_unions(UnionAll(tuple(map(branch, branches)), in_pairs=True), types_of)
    assert isinstance(union, UnionAll)
    found = [" ".join(type_.word for type_ in types_of(one)) for one in union.inputs]
    assert found == [aligned] * len(branches)


def test_a_first_branch_is_widened_step_by_step():
    union = align_unions(UnionAll(tuple(map(branch, ["int", "double", "string"])), in_pairs=True), types_of)
    first, casts = union.children[0], []
    while isinstance(first, Project):
        casts += [type_.word for type_ in types_of(first)]
        first = first.input
    assert casts == ["string", "double"]


def values(*types: str) -> UnionAll:
    """VALUES with one column and a row of each type."""
    return UnionAll(tuple(Project(OneRow(), (("c", expression(f"cast(1 as {type_})")),)) for type_ in types))


def test_float_beside_another_type_in_values():
    """Spark widens them to FLOAT or DOUBLE, depending on ANSI."""
    with pytest.raises(NotIncremental, match="VALUES that mix FLOAT with other types"):
        align_unions(values("float", "int"), types_of)
    for same in (values("float", "float"), values("int", "int")):
        assert align_unions(same, types_of) == same
