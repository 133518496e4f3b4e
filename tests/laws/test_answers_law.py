"""What operators declare about themselves, compared with their rows.

source_of        each non-NULL value of the column is a value of the child's column
at_most_one_row  there are never two rows
monotone         additional rows in every table remove no row
pruned           the remaining columns hold the same rows
"""

from __future__ import annotations

import pytest

from sparkivm.algebra import Consolidate, Relation, Scan, UnionAll
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import keeps_append_only, rewrite
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import negated
from sparkivm.normalize.prune_columns import prune_columns
from tests.duckdb_dialect import duckdb_text
from tests.laws.operators import OPERATORS, over_a_table, zsets
from tests.laws.worlds import Worlds, WorldSources

ROUNDS = 15
NODES = {name: over_a_table(name) for name in OPERATORS} | zsets()


def text(relation: Relation) -> str:
    return f"({duckdb_text(relation, WorldSources(), 'weight')})"


def expect_nothing(worlds: Worlds, sql: str, law: str) -> None:
    for world in range(ROUNDS):
        worlds.expect_nothing(world, sql, law)


@pytest.mark.parametrize("name", NODES)
def test_a_column_that_is_passed_on_has_the_values_of_its_source(worlds, name):
    node = NODES[name]
    for mine in node.columns:
        source = node.source_of(mine)
        if source is not None:
            child, its = source
            found = f"select {mine} from {text(node)} where {mine} is not null"
            expect_nothing(worlds, f"{found} except select {its} from {text(child)}", f"source_of {mine}")


@pytest.mark.parametrize("name", NODES)
def test_columns_that_are_wanted_stay_the_same(worlds, name):
    node = NODES[name]
    for wanted in node.columns:
        pruned = only(prune_columns(node, [wanted]), [wanted])
        difference = Consolidate(plus(only(node, [wanted]), negated(pruned)))
        expect_nothing(worlds, f"select * from {text(difference)}", f"pruned to {wanted}")


@pytest.mark.parametrize("name", [name for name, node in NODES.items() if node.at_most_one_row])
def test_there_is_one_row_at_most(worlds, name):
    node = NODES[name]
    expect_nothing(worlds, f"select count(*) from {text(node)} having count(*) > 1", "at_most_one_row")


@pytest.mark.parametrize("name", [name for name in OPERATORS if keeps_append_only(NODES[name])])
def test_more_rows_take_none_away(worlds, name):
    def longer(node: Relation) -> Relation:
        return UnionAll((node, Scan("t", node.fields))) if isinstance(node, Scan) else node

    node = NODES[name]
    more = rewrite(node, longer)
    expect_nothing(worlds, f"select * from {text(node)} except all select * from {text(more)}", "monotone")


def test_some_operators_are_monotone_and_some_are_not():
    monotone = {name for name in OPERATORS if keeps_append_only(NODES[name])}
    assert {"filter_", "left_join", "window"} & monotone == {"filter_"}
