"""A plan that grows with each use of a shared part is cut into steps of limited size."""

from __future__ import annotations

import pytest

from sparkivm.algebra import (
    Changes,
    Filter,
    InnerJoin,
    JoinCondition,
    Keys,
    LeftJoin,
    Lookup,
    Pair,
    Relation,
    Scan,
    Slice,
)
from sparkivm.algebra.project import renamed
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.steps import INLINED_READS, in_steps, step_names
from sparkivm.properties.inlined_size import reads_when_inlined
from sparkivm.spark_sql.relations import select_text
from tests.golden.compiled import Empty


def doubled(relation: Relation, times: int) -> Relation:
    """Joined with itself `times` times; the result doubles each time."""
    for number in range(times):
        (name,) = relation.columns
        other = renamed(relation, [(f"c{number}", name)])
        joined = InnerJoin((relation, other), (expression("x = y", x=name, y=f"c{number}"),))
        relation = renamed(joined, [(f"d{number}", name)])
    return relation


def test_a_small_plan_is_left_as_it_is():
    plan = doubled(Scan("t", (("k", "k"),)), 3)
    steps = in_steps(plan, step_names())
    assert (steps.tables, steps.rest) == ((), plan)


def test_what_is_used_twice_is_written_once():
    plan = doubled(Filter(Scan("t", (("k", "k"),)), expression("x > 41", x="k")), 5)
    assert select_text(plan, Empty()).count("> 41") == 1


@pytest.mark.parametrize("leaf", [Scan, Changes])
def test_each_statement_of_a_large_plan_is_small(leaf):
    plan = doubled(Filter(leaf("t", (("k", "k"),)), expression("x > 0", x="k")), 14)
    assert reads_when_inlined(plan) == 2**14
    steps = in_steps(plan, step_names())
    statements = [*(step.relation for step in steps.tables), steps.rest]
    assert max(map(reads_when_inlined, statements)) <= INLINED_READS
    assert len(statements) < 8
    assert steps.rest.columns == plan.columns
    assert steps.rest.weighted == plan.weighted


def test_the_changes_of_a_table_are_read_once():
    feeds = [Changes("t", ((f"{field}{number}", field),)) for number in range(40) for field in ("a", "b")]
    plan = plus(*(renamed(feed, [("x", feed.columns[0])]) for feed in feeds))
    steps = in_steps(plan, step_names())
    (feed,) = steps.tables
    assert [node for node in steps.rest.walk() if isinstance(node, Changes)] == []
    assert set(feed.relation.columns) >= {"a", "b"}


def looked_up_twice(rows: float) -> tuple[Relation, Sizes]:
    """The rows of a table with changed keys, joined with themselves."""
    changes = Changes("changed", (("c", "k"),))
    found = Scan("large", (("k", "k"), ("v", "v"))).restrict(Keys.of(changes, [("k", "c")]))
    twin = renamed(found, [("k2", "k"), ("v2", "v")])
    joined = LeftJoin(found, twin, JoinCondition((Pair("k", "k2"),)))
    return joined, Sizes({"large": rows, "changed": rows}, {"changed": 100.0})


def test_few_rows_of_a_large_table_are_looked_up_once():
    plan, sizes = looked_up_twice(1e8)
    steps = in_steps(plan, step_names(), sizes=sizes)
    (step,) = steps.tables
    assert step.relation.tables == {"large", "changed"}
    assert steps.rest.tables == {step.name}


def test_to_look_up_a_small_table_again_is_cheaper_than_a_step():
    plan, sizes = looked_up_twice(1e6)
    assert in_steps(plan, step_names(), sizes=sizes).tables == ()


def sliced(lookups: int, rows: float) -> tuple[Relation, Sizes]:
    """A slice of a table behind one projection, which so many joins read."""
    changes = Changes("changed", (("c", "k"),))
    table = Scan("large", (("k", "k"), ("v", "v")))
    slice_ = Slice(table, (Lookup(renamed(changes, [("key", "c")]), (Pair("k", "key"),)),))
    shared = renamed(slice_, [("k", "k"), ("v", "v")])
    found = [renamed(shared, [(f"k{i}", "k"), (f"v{i}", "v")]) for i in range(lookups)]
    return InnerJoin(tuple(found), ()), Sizes({"large": rows, "changed": 1e3}, {"changed": 100.0})


@pytest.mark.parametrize(("rows", "is_made"), [(1e8, True), (1e6, False)])
def test_a_slice_is_made_where_it_saves_much(rows, is_made):
    """However many relations stand between the slice and those that read it."""
    plan, sizes = sliced(3, rows)
    steps = in_steps(plan, step_names(), sizes=sizes)
    statements = [*(step.relation for step in steps.tables), steps.rest]
    assert any(isinstance(node, Slice) for part in statements for node in part.walk()) == is_made
