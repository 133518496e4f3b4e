"""Which inputs of TPC-H query 17 are narrowed, depending on the sizes of the tables and of the change."""

from __future__ import annotations

import pytest

from sparkivm.algebra import InnerJoin, Relation
from sparkivm.explain.plan_lines import delta_lines
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.narrowed_joins import NarrowedJoins
from sparkivm.plan.state_change import state_change
from tests.golden.compiled import compiled, new_engine
from tests.tpch.queries import QUERIES, query_text

LINES, PARTS = "tpch.lineitem", "tpch.part"
ROWS = {LINES: 3e7, PARTS: 1e6}


@pytest.fixture(scope="module")
def inputs() -> tuple[Relation, Relation, Relation]:
    """Lines, parts of one brand, and sums of lines by part."""
    (query,) = (query for query in QUERIES if query.stem == "q17")
    core = compiled(new_engine(), query_text(query)).core
    (join,) = (node for node in core.walk() if isinstance(node, InnerJoin))
    lines, parts, sums = join.inputs
    return lines, parts, sums


@pytest.mark.parametrize(
    ("rows", "changed", "narrows"),
    [
        (ROWS, 120_000, True),
        (ROWS, 100, False),  # looking them up is faster than reading the parts
        ({**ROWS, PARTS: 1e7}, 1e6, False),  # too many to read again
        ({LINES: 3e6, PARTS: 1e6}, 120_000, False),  # nearly as many as the lines
    ],
)
def test_few_parts_narrow_the_sums_of_many_lines(inputs, rows, changed, narrows):
    lines, parts, sums = inputs
    narrowing = NarrowedJoins(Sizes(rows, {LINES: changed}))
    assert narrowing.by_what_stays(sums, parts) is narrows
    assert not narrowing.by_what_stays(sums, lines)  # no condition selects only a few lines


@pytest.mark.parametrize(
    ("rows", "whole"), [({PARTS: 5e4}, True), ({PARTS: 5e4 + 1}, False), ({LINES: 1.0}, False)]
)
def test_changes_are_not_sent_to_a_small_table_first(inputs, rows, whole):
    _, parts, sums = inputs
    assert NarrowedJoins(Sizes(rows)).leaves_whole(parts) is whole
    assert not NarrowedJoins(Sizes({LINES: 1.0})).leaves_whole(sums)


@pytest.mark.parametrize(("rows", "reads"), [(25.0, 1), (1e6, 2)])
def test_changes_are_read_once_where_dimensions_are_small(rows, reads):
    """A lookup in a large one reads the changes twice: once for their keys, once for their rows."""
    query = "select c_custkey, n_name from tpch.customer left join tpch.nation on n_nationkey = c_nationkey"
    state = compiled(new_engine(), query).state
    sizes = Sizes({"tpch.nation": rows}, {"tpch.customer": 10.0})
    change = state_change(state, "append", frozenset({"tpch.customer"}), sizes)
    assert str(delta_lines(change)).count("Changes tpch.customer") == reads


@pytest.mark.parametrize(
    ("rows", "values", "narrows"),
    [
        (3e7, 1e6, True),
        (3e7, 25.0, False),  # few groups, each with a large part of the table
        (3e7, 3e7, False),  # a number that only the table itself can give
        (1e6, 2e5, False),  # small enough to read twice
    ],
)
def test_lines_are_read_once_with_their_sums(inputs, rows, values, narrows):
    lines, parts, sums = inputs
    narrowing = NarrowedJoins(Sizes({LINES: rows, PARTS: 1e6}, {LINES: 1000.0}), {"l_partkey": values})
    assert narrowing.by_what_groups_read(lines, sums, ["l_partkey"]) is narrows
    assert not narrowing.by_what_groups_read(parts, sums, ["p_partkey"])
