"""How often the statement for changed groups reads the state, if Spark inlines the parts of its plan."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Scan
from sparkivm.plan.join_order import Sizes
from sparkivm.plan.state import STATE
from sparkivm.plan.state_change import state_change
from sparkivm.properties.inlined_size import leaves_when_inlined
from tests.golden.compiled import compiled, new_engine


@pytest.fixture(scope="module")
def engine():
    return new_engine()


@pytest.mark.parametrize(
    ("form", "part", "keys", "reads"),
    [
        ("rewrite", "", "o_custkey", 3),
        ("replace", "o_custkey", "o_custkey", 2),  # no other group has such a key
        ("replace", "o_custkey", "o_custkey, o_orderpriority", 3),
        ("merge", "", "o_custkey", 2),
    ],
)
def test_extrema_read_the_state_for_the_groups_and_for_those_that_are_read_again(
    engine, form, part, keys, reads
):
    """And where the other groups stay, for these."""
    state = compiled(engine, f"select {keys}, max(o_totalprice) as m from tpch.orders group by {keys}").state
    rows = state_change(state, form, frozenset({"tpch.orders"}), Sizes({}), part).rows
    leaves = leaves_when_inlined(rows)
    assert sum(uses for leaf, uses in leaves if isinstance(leaf, Scan) and leaf.table == STATE) == reads


def test_recomputed_groups_do_not_read_it(engine):
    state = compiled(engine, "select o_custkey, median(o_totalprice) as m from tpch.orders group by 1").state
    rows = state_change(state, "replace", frozenset({"tpch.orders"}), Sizes({}), "o_custkey").rows
    assert STATE not in rows.tables
