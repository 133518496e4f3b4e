"""Which inner aggregates can be auxiliary views, which are worth it, and who reads them."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Aggregate, Scan
from sparkivm.engine import Field, RelationFacts
from sparkivm.names import TableName, auxiliary_view, state_table
from sparkivm.plan.auxiliary import candidates, read_from_auxiliaries
from sparkivm.refresh.decide.cost import is_worth_keeping
from tests.golden.compiled import compiled, new_engine
from tests.golden.tpch import TABLES

REVENUE = (
    "select s_name, r.total from tpch.supplier join (select l_suppkey, sum(l_extendedprice) as total "
    "from tpch.lineitem group by l_suppkey) as r on s_suppkey = r.l_suppkey"
)


@pytest.fixture(scope="module")
def engine():
    return new_engine()


def facts(table: str, megabytes: float) -> RelationFacts:
    fields = tuple(Field(*column) for column in TABLES[table])
    return RelationFacts(TableName("tpch", table), "delta", fields, size_bytes=int(megabytes * 1e6))


def keys_of_candidates(engine, sql: str) -> list[tuple[str, ...]]:
    return [node.keys for node in candidates(compiled(engine, sql))]


def test_sums_over_a_table_may_be_kept(engine):
    assert keys_of_candidates(engine, REVENUE) == [("l_suppkey",)]


@pytest.mark.parametrize(
    "inner",
    [
        "select l_suppkey, max(l_extendedprice) as total from tpch.lineitem group by l_suppkey",
        "select l_suppkey, sum(l_extendedprice) as total from tpch.lineitem join tpch.part on l_partkey = p_partkey "
        "group by l_suppkey",
        "select l_suppkey, count(*) as total from tpch.lineitem where l_shipdate > current_date() group by l_suppkey",
        "select 1 as l_suppkey, sum(l_extendedprice) as total from tpch.lineitem",
    ],
    ids=["no sum", "a join", "time", "one group"],
)
def test_others_may_not(engine, inner):
    sql = f"select s_name, r.total from tpch.supplier join ({inner}) as r on s_suppkey = r.l_suppkey"
    assert keys_of_candidates(engine, sql) == []


def test_the_topmost_groups_are_the_state_itself(engine):
    assert (
        keys_of_candidates(engine, "select l_suppkey, count(*) as n from tpch.lineitem group by l_suppkey")
        == []
    )


@pytest.mark.parametrize(
    ("megabytes", "suppliers_mb", "worth"),
    [(210, 1, False), (4000, 1, True), (1100, 1100, False)],
    ids=["a small table", "a large one", "as many groups as rows"],
)
def test_what_is_worth_a_view(engine, megabytes, suppliers_mb, worth):
    plan = compiled(engine, REVENUE)
    (node,) = candidates(plan)
    tables = {
        "tpch.lineitem": facts("lineitem", megabytes),
        "tpch.supplier": facts("supplier", suppliers_mb),
    }
    assert is_worth_keeping(node, plan.written, tables) == worth


def test_the_view_is_read_in_place_of_the_table(engine):
    plan = compiled(engine, REVENUE)
    (node,) = candidates(plan)
    view = Scan("kept", (("k", "l_suppkey"), ("t", "total")))
    core, found = read_from_auxiliaries(
        plan.written,
        lambda relation: str(relation.columns),
        {str(node.columns): (view, ("k", "t"))},
    )
    assert core.tables == {"tpch.supplier", "kept"}
    assert core.columns == plan.written.columns
    assert list(found.values()) == [node]
    assert not [part for part in core.walk() if isinstance(part, Aggregate)]


def test_names_that_are_too_long_differ():
    view = TableName("s", "v" * 250)
    names = {auxiliary_view(view, 1), auxiliary_view(view, 2), state_table(view), view}
    assert len(names) == 4
    assert str(auxiliary_view(TableName("s", "v"), 2)) == "s.v__ivm_aux_2"
