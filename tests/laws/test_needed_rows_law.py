"""delta(n) over tables reduced to the rows that some need describes == delta(n)."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from sparkivm.algebra import Derivation, InnerJoin, Relation
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.plan import needed_rows
from sparkivm.plan.needed_rows import ChangedColumn, Need, Within, needs
from tests.duckdb_dialect import duckdb_text
from tests.fuzz.random_data import TABLES
from tests.laws.operators import DAY, OPERATORS, over_a_table, over_other_operators, slice_of, table
from tests.laws.test_delta_law import NESTED_SHARE
from tests.laws.worlds import Worlds, WorldSources

ROUNDS = 60


class CutDown(WorldSources):
    """Sources without unneeded rows. The ranges are subqueries, so the text is the same for all worlds."""

    def __init__(self, by_table: Mapping[str, frozenset[Need]]) -> None:
        self._needs = by_table

    def new(self, table: str) -> str:
        alternatives = (
            " and ".join(["true", *map(self._condition, need)]) for need in self._needs.get(table, ())
        )
        return f"(select * from {super().new(table)} where {' or '.join(alternatives) or 'false'})"

    def _condition(self, within: Within) -> str:
        values = " union all ".join(map(self._values, within.changed)) or "select null as value"
        low, high = (f"(select {f}(value) from ({values}))" for f in ("min", "max"))
        null = f" or {within.column} is null" if within.or_null else ""
        return f"({within.column} between {low} and {high}{null})"

    def _values(self, column: ChangedColumn) -> str:
        return f"select {column.field} as value from ({self.changes(column.table, (column.field,))})"


def violation(relation: Relation) -> str:
    """SQL that finds the rows that differ when the tables are cut down."""
    weight = "weight"
    whole = duckdb_text(relation, WorldSources(), weight)
    cut_down = duckdb_text(relation, CutDown(needs(relation)), weight)
    names = ", ".join(f'"{name}"' for name in relation.columns)
    return (
        f"select {names}, sum(weight) from (\n"
        f"select {names}, weight from ({cut_down})\nunion all\nselect {names}, -weight from ({whole})\n"
        ") group by all having sum(weight) <> 0"
    )


def delta(query: Relation, changed: frozenset[str]) -> Relation:
    return prune_empty(Derivation(changed | {DAY}).delta(query))


def some_tables(rng: random.Random) -> frozenset[str]:
    return frozenset(rng.sample(sorted(TABLES), rng.randint(1, len(TABLES))))


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_over_tables_needs_no_more(name, worlds: Worlds):
    query = over_a_table(name)
    texts = [violation(delta(query, frozenset(changed))) for changed in (TABLES, *([one] for one in TABLES))]
    for world in range(ROUNDS):
        worlds.expect_nothing(world, texts[world % len(texts)], f"needs of {name}")


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_over_others_needs_no_more(name, worlds: Worlds):
    rng = random.Random(f"{worlds.seed} {name}")
    for label, query in over_other_operators(name, rng, NESTED_SHARE):
        text = violation(delta(query, some_tables(rng)))
        for world in rng.sample(range(len(worlds)), 6):
            worlds.expect_nothing(world, text, f"needs of {label}")


def test_a_slice_needs_what_its_lookups_ask_for(worlds: Worlds):
    text = violation(slice_of(table("r")))
    for world in range(ROUNDS):
        worlds.expect_nothing(world, text, "needs of a slice")


def test_a_need_that_is_overstated_is_found(monkeypatch, worlds: Worlds):
    """In a join we take the values of one side for those of the other, whatever the condition compares."""
    monkeypatch.setattr(
        needed_rows._Needs,
        "_origin",
        lambda self, node, column: frozenset({ChangedColumn("t", "a")}),
    )
    text = violation(delta(over_a_table("inner_join"), frozenset(TABLES)))
    assert worlds.anywhere(text)


def test_what_a_join_of_changes_needs():
    query = over_a_table("inner_join")
    assert isinstance(query, InnerJoin)
    found = needs(delta(query, frozenset(TABLES)))
    assert found, "tables are read"
    assert all(need for alternatives in found.values() for need in alternatives), "never as a whole"
