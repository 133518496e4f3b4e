"""What the cost rule counts, and which way it finds cheaper in clear cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from sparkivm.engine import Field, RelationFacts
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import TableName
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.key_ranges import KeyRanges, Span
from sparkivm.plan.needed_rows import ChangedColumn
from sparkivm.plan.state_change import state_change
from sparkivm.refresh.changed_rows.estimated_size import estimated_rows
from sparkivm.refresh.changed_rows.key_ranges import numbers_of
from sparkivm.refresh.decide.cost import Estimate, Work, estimate
from tests.golden.compiled import compiled, new_engine
from tests.golden.tpch import TABLES

MEGABYTES = {"lineitem": 1100, "orders": 280, "customer": 60, "nation": 0.01}
FACTS = {
    f"tpch.{name}": RelationFacts(
        TableName("tpch", name),
        "delta",
        tuple(Field(*column) for column in TABLES[name]),
        size_bytes=int(size * 1e6),
    )
    for name, size in MEGABYTES.items()
}
STATE = RelationFacts(TableName("tpch", "m__ivm"), "delta", (Field("a", "int"),), size_bytes=1000)
FEW = SourceChange("feed", 1, 2, rows=1000, nets=True)

TOTALS = "select l_returnflag, sum(l_quantity) as q from tpch.lineitem group by l_returnflag"
JOIN = (
    "select o_orderpriority, sum(l_quantity) as q from tpch.orders join tpch.lineitem on l_orderkey = o_orderkey "
    "group by o_orderpriority"
)


@pytest.fixture(scope="module")
def engine():
    return new_engine()


def costs(
    engine,
    sql: str,
    changes: Mapping[str, SourceChange],
    ranges: KeyRanges | None = None,
    state: RelationFacts = STATE,
) -> Estimate:
    plan = compiled(engine, sql)
    changes = {f"tpch.{table}": change for table, change in changes.items()}
    rows = {key: estimated_rows(facts) for key, facts in FACTS.items()}
    sizes = Sizes(rows, {key: float(change.rows) for key, change in changes.items()})
    change = state_change(plan.state, "append", frozenset(changes), sizes)
    return estimate(change, plan.written, state, FACTS, changes, sizes, ranges or KeyRanges())


def test_changes_alone_read_no_table(engine):
    found = costs(engine, TOTALS, {"lineitem": FEW})
    assert (found.from_changes.feeds, found.from_changes.values, found.from_changes.bytes) == (1, 0, 0)
    assert found.in_full.values == pytest.approx(2 * estimated_rows(FACTS["tpch.lineitem"]))
    assert found.in_full.bytes == pytest.approx(1100e6 * 2 / len(TABLES["lineitem"]))
    assert not found.prefers_full


def test_a_join_reads_what_the_changes_meet(engine):
    found = costs(engine, JOIN, {"orders": FEW})
    assert found.from_changes.values == pytest.approx(2 * estimated_rows(FACTS["tpch.lineitem"]))
    assert found.from_changes.exchanged == 0
    assert found.in_full.exchanged > 0
    assert not found.prefers_full


def test_a_range_of_keys_is_a_part_of_the_table(engine):
    whole = costs(engine, JOIN, {"orders": FEW})
    key = ChangedColumn("tpch.orders", "o_orderkey")
    rows = {("tpch.lineitem", "l_orderkey"): estimated_rows(FACTS["tpch.lineitem"])}
    part = costs(engine, JOIN, {"orders": FEW}, KeyRanges({key: Span(1, 1000)}, rows))
    assert 0 < part.from_changes.values < whole.from_changes.values / 100
    everywhere = costs(engine, JOIN, {"orders": FEW}, KeyRanges({key: Span(1, 30_000_000)}, rows))
    assert everywhere.from_changes == whole.from_changes


def test_what_is_read_twice_is_got_from_the_log_once(engine):
    found = costs(engine, JOIN, {"orders": FEW, "lineitem": FEW})
    assert found.changes_read["tpch.lineitem"] > 1
    kept = replace(FEW, kept="global_temp.x")
    again = costs(engine, JOIN, {"orders": kept, "lineitem": kept})
    assert again.from_changes.feeds == 0
    # The changes are in memory, but the table's rows are not.
    assert again.from_changes.values >= 2 * estimated_rows(FACTS["tpch.lineitem"])
    assert found.from_changes.feeds == sum(1 for uses in found.changes_read.values() if uses)


def test_a_small_table_is_read_in_full(engine):
    sql = "select n_name, count(*) as n from tpch.nation group by n_name"
    assert costs(engine, sql, {"nation": FEW}).prefers_full


def test_a_difference_of_versions_reads_the_table_twice(engine):
    found = costs(engine, TOTALS, {"lineitem": SourceChange("diff", 1, 2, nets=True, scans=2)})
    assert found.from_changes.bytes == pytest.approx(2 * 1100e6)
    assert found.prefers_full


def test_what_steps_read_counts(engine):
    pairs = "select a.s, b.s as t from sums a join sums b on a.k = b.k"
    sql = (
        "with sums as (select o_custkey as k, sum(l_quantity) as s from tpch.orders join tpch.lineitem "
        f"on l_orderkey = o_orderkey group by o_custkey), pairs as ({pairs}) "
        "select u.s, v.t from pairs u join pairs v on u.t = v.s join pairs w on w.s = v.t"
    )
    found = costs(engine, sql, {"orders": FEW, "lineitem": FEW}).from_changes
    assert found.steps > 0
    assert found.values > estimated_rows(FACTS["tpch.lineitem"])
    assert found.bytes > 100e6


def test_a_large_state_takes_long_to_write(engine):
    small, large = (
        costs(engine, TOTALS, {"lineitem": FEW}, state=replace(STATE, size_bytes=size))
        for size in (None, 250_000_000)
    )
    assert large.full_s - small.full_s == pytest.approx(10)
    assert large.incremental_s == small.incremental_s, "an append does not depend on it"


@pytest.mark.parametrize("kind", ["values", "aggregated", "exchanged"])
def test_a_million_rows_take_part_of_a_second(kind):
    assert 0.01 < Work(**{kind: 1e6}).reading_s < 0.5
    assert Work(**{kind: 2e6}).reading_s == pytest.approx(2 * Work(**{kind: 1e6}).reading_s)


def test_rows_of_a_table_are_guessed_by_its_fields():
    fields = (Field("a", "int"), Field("b", "int"))
    assert estimated_rows(replace(STATE, fields=fields, size_bytes=8000)) == 1000
    assert estimated_rows(replace(STATE, fields=fields[:1], size_bytes=8000)) == 2000
    assert estimated_rows(replace(STATE, fields=(), size_bytes=8000)) == 2000
    assert estimated_rows(replace(STATE, size_bytes=0)) == 1


def test_numbers_of_a_smaller_table(engine):
    plan = compiled(engine, JOIN + " having max(l_partkey) > 0")
    columns = [("tpch.lineitem", "l_orderkey"), ("tpch.lineitem", "l_partkey"), ("tpch.orders", "o_orderkey")]
    found = numbers_of(columns, plan.core, {"tpch.orders": 1e6, "tpch.lineitem": 4e6})
    assert found == {("tpch.lineitem", "l_orderkey"): 1e6}
