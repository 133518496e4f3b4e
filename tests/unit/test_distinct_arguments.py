"""Which aggregates of DISTINCT arguments are additive, and what a rebuild reads for them."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Aggregate, Scan, Totals, UnionAll
from sparkivm.plan.auxiliary import candidates
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.golden.compiled import Empty, compiled, new_engine

LINES = "tpch.lineitem"


@pytest.fixture(scope="module")
def engine():
    return new_engine()


@pytest.mark.parametrize(
    "sql",
    [
        f"select l_shipmode, count(distinct l_suppkey) as n from {LINES} group by l_shipmode",
        f"select count(distinct l_suppkey, l_partkey) as n, sum(l_quantity) as q, count(*) as c from {LINES}",
        f"select l_shipmode, sum(distinct l_quantity) as q, avg(distinct l_tax) as a from {LINES} group by all",
        f"select l_shipmode, count(distinct upper(l_comment)) filter (where l_tax > 0) as n from {LINES} group by all",
        f"select l_shipmode, count(distinct l_suppkey) as n from {LINES} group by rollup (l_shipmode)",
        f"select count(distinct o_custkey) as n from {LINES} join tpch.orders on o_orderkey = l_orderkey",
        f"select l_shipmode, count(distinct l_suppkey) as n, max(l_tax) as t from {LINES} group by l_shipmode",
        f"select l_shipmode, count(distinct l_suppkey) as n from (select * from {LINES} union all select * from {LINES}) "
        "group by l_shipmode",
    ],
)
def test_values_of_their_own_are_counted_once(engine, sql):
    plan = compiled(engine, sql)
    assert isinstance(plan.core, Aggregate)
    assert isinstance(plan.core.input, UnionAll)
    assert not plan.state.recomputed


@pytest.mark.parametrize(
    "sql",
    [
        f"select l_shipmode, count(distinct l_suppkey) as n, stddev(l_tax) as s from {LINES} group by l_shipmode",
        f"select l_shipmode, avg(distinct cast(l_suppkey as bigint)) as n from {LINES} group by l_shipmode",
        f"select l_shipmode, sum(distinct cast(l_tax as double)) as n from {LINES} group by l_shipmode",
        f"select l_shipmode, count(distinct o_custkey) as n from {LINES} join tpch.orders on o_orderkey = l_orderkey "
        "group by l_shipmode",
    ],
    ids=["another needs the group", "a mean of BIGINT", "a sum of DOUBLE", "groups of a join"],
)
def test_what_needs_the_whole_group_reads_it(engine, sql):
    plan = compiled(engine, sql)
    assert plan.core.calls == plan.written.calls
    assert plan.state.recomputed


@pytest.mark.parametrize(
    "sql",
    [
        "select n_regionkey as k, count(distinct n_name) as n, sum(n_nationkey) as s, count(*) as c from nation group by 1",
        "select n_regionkey as k, count(distinct n_name, n_nationkey) as n, sum(distinct n_nationkey) as s from nation group by 1",
        "select n_regionkey as k, count(distinct n_name) filter (where n_name < 'b') as n, "
        "count(distinct n_name) as m, count(n_name) as c from nation group by 1",
        "select sum(distinct n_nationkey) as s, count(distinct n_name) as n, count(*) as c from nation",
        "select sum(distinct n_nationkey) as s, count(*) as c from nation where n_regionkey > 100",
    ],
)
def test_the_groups_stay_the_same(engine, sql):
    values = [(x, y, k, "") for k in (1, 2, None) for x in (1, 2, None) for y in ("a", "b", None)]
    engine.execute("delete from nation")
    engine.executemany("insert into nation values (?, ?, ?, ?)", values[1:] + values[3:12])
    plan = compiled(engine, sql)
    assert isinstance(plan.core, Aggregate)
    assert isinstance(plan.core.input, UnionAll)
    apart, whole = (select_text(one, Empty(), DUCKDB) for one in (plan.core, plan.written))
    for one, other in ((apart, whole), (whole, apart)):
        assert engine.execute(f"({one}) except all ({other})").fetchall() == []


def test_arguments_are_taken_apart_once(engine):
    sql = f"select sum(distinct l_partkey) as s, count(distinct l_partkey) as n, count(distinct l_suppkey) as m from {LINES}"
    plan = compiled(engine, sql)
    assert [node.keys for node in plan.core.walk() if isinstance(node, Totals)] == [
        ("distinct_l_partkey",),
        ("distinct_l_suppkey",),
    ]


def test_a_rebuild_reads_the_table_once(engine):
    sql = f"select l_shipmode, count(distinct l_suppkey) as n, sum(l_quantity) as q from {LINES} group by l_shipmode"
    plan = compiled(engine, sql)
    assert len([node for node in plan.content.walk() if isinstance(node, Scan)]) == 1
    assert plan.content.columns == plan.state.names


def test_the_values_may_be_an_auxiliary_view(engine):
    sql = f"select l_shipmode, count(distinct l_suppkey) as n from {LINES} group by l_shipmode"
    assert [node.keys for node in candidates(compiled(engine, sql))] == [("l_shipmode", "distinct_l_suppkey")]


def test_an_argument_may_be_named_like_a_key(engine):
    sql = f"select l_suppkey, count(l_suppkey) as n, count(distinct l_suppkey) as m from {LINES} group by l_suppkey"
    names = compiled(engine, sql).core.input.columns
    assert names == ("l_suppkey", "l_suppkey_", "distinct_l_suppkey")


def test_each_argument_has_a_name_of_its_own(engine):
    sql = (
        "select l_shipmode, count(distinct upper(l_comment)) as n, count(distinct lower(l_comment)) as m, "
        f"sum(l_tax * 2) as s, sum(l_tax + 1) as t from {LINES} group by l_shipmode"
    )
    names = compiled(engine, sql).core.input.columns
    assert names == ("l_shipmode", "argument", "argument_", "distinct_value", "distinct_value_")
