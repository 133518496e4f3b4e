"""Equalities between columns of two types, where different values compare as equal."""

from __future__ import annotations

import pytest

from sparkivm.algebra import (
    Aggregate,
    Call,
    Filter,
    InnerJoin,
    JoinCondition,
    LeftJoin,
    Pair,
    Project,
    Relation,
    Scan,
    SemiJoin,
)
from sparkivm.algebra.membership import membership
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.errors import NotIncremental
from sparkivm.normalize.pipeline import normalize
from sparkivm.plan.exact_equalities import with_exact_equalities
from sparkivm.reasons import Place
from sparkivm.spark.data_types import SparkType, spark_type

A, B = Scan("a", (("i", "i"), ("v", "v"))), Scan("b", (("s", "s"), ("w", "w")))
TYPES = {"i": "int", "v": "bigint", "s": "string", "w": "decimal(10,2)", "n": "bigint"}


def types_of(relation: Relation) -> tuple[SparkType, ...]:
    """The types of the tables' columns, found through renaming."""
    columns = relation.inputs if isinstance(relation, InnerJoin) else (relation,)
    return tuple(spark_type(TYPES[scalar.as_column or ""]) for part in columns for _, scalar in part.items)


def test_a_string_that_equals_a_number_is_no_equal_column():
    join = with_exact_equalities(
        InnerJoin((A, B), (expression("i = s and v = w", i="i", s="s", v="v", w="w"),)), types_of
    )
    assert [p.sql("spark") for p in join.predicates] == ["`i` = COALESCE(`s`)", "`v` = `w`"]


def test_of_outer_and_semi_joins_too():
    on = JoinCondition((Pair("i", "s"), Pair("v", "w", null_safe=True)))
    for join in (LeftJoin(A, B, on), SemiJoin(A, B, on)):
        found = with_exact_equalities(join, types_of).on
        assert found.pairs == (Pair("v", "w", null_safe=True),)
        assert [p.sql("spark") for p in found.residual] == ["`i` = COALESCE(`s`)"]


def test_types_are_those_of_where_a_column_comes_from():
    groups = Project(
        Aggregate(B, ("s",), (Call("n", "count_rows"),)), (("key", column("s")), ("n", column("n")))
    )
    join = Filter(InnerJoin((A, groups), ()), expression("i = key and v = n", i="i", key="key", v="v", n="n"))
    found = with_exact_equalities(join, types_of)
    assert found.predicate.sql("spark") == "`i` = COALESCE(`key`) AND `v` = `n`"


def test_a_flag_that_is_computed():
    """A filter by the flag becomes a filter by the comparison."""
    flag = expression("i = s and v = w and i > 1", i="i", s="s", v="v", w="w")
    flagged = Project(InnerJoin((A, B), ()), (("i", column("i")), ("flag", flag)))
    found = normalize(with_exact_equalities(Filter(flagged, column("flag")), types_of), ("i",))
    texts = sorted(scalar.sql("spark") for node in found.walk() for scalar in node.scalars)
    assert [text for text in texts if "=" in text] == ["`i` = COALESCE(`s`)", "`v` = `w`"]


def test_a_query_of_exact_equalities_stays_as_it_is():
    join = InnerJoin((A, B), (expression("v = w", v="v", w="w"),))
    assert with_exact_equalities(join, types_of) is join


def test_in_is_an_equality_of_exact_types():
    join = SemiJoin(A, B, JoinCondition((), (membership("v", "w", None),)))
    assert with_exact_equalities(join, types_of).on.pairs == (Pair("v", "w"),)


def test_in_counted_by_an_aggregate_too():
    found = expression("case when p then 1 end", p=membership("v", "w", None))
    counted = Aggregate(InnerJoin((A, B), ()), (), (Call("c", "count", found), Call("n", "count_rows")))
    (c, n) = with_exact_equalities(counted, types_of).calls
    assert (c.argument.sql("spark"), n.argument) == ("CASE WHEN ((`v` = `w`)) THEN 1 END", None)


def test_in_of_other_types_has_no_rule():
    place = Place(3, 7)
    join = SemiJoin(A, B, JoinCondition((), (membership("i", "s", place),)))
    with pytest.raises(NotIncremental) as raised:
        with_exact_equalities(join, types_of)
    assert raised.value.fallback.place == place
