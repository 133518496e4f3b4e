"""What a refresh reports about how each operator follows changes."""

from __future__ import annotations

import pytest

from sparkivm.plan.strategies import READERS_STRATEGY, strategies
from tests.golden.compiled import compiled, new_engine


@pytest.fixture(scope="module")
def engine():
    return new_engine()


LINEAR = "linear: counts and sums are added up"
EXTREMA = "counts and sums added up, extrema taken, kept or read again"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select n_regionkey, count(*) as n from nation group by n_regionkey", {"State": LINEAR}),
        ("select n_regionkey, max(n_name) as m from nation group by n_regionkey", {"State": EXTREMA}),
        (
            "select n_regionkey, mode(n_name) as m from nation where n_nationkey > 1 group by n_regionkey",
            {"State": "affected groups are read again", "Filter": "linear"},
        ),
        (
            "select n_regionkey, rank() over (order by count(*)) as r from nation group by n_regionkey",
            {"State": LINEAR, "Window": READERS_STRATEGY},
        ),
    ],
)
def test_each_operator_has_its_strategy(engine, sql, said):
    assert strategies(compiled(engine, sql)) == said


def test_functions_that_follow_changes_without_reading_groups_again(engine):
    said = {
        LINEAR: ("count(*)", "count(a)", "count_if(a > 1)", "sum(a)", "avg(a)", "mean(a)", "bit_xor(k)"),
        EXTREMA: ("min(a)", "max(a)", "bool_and(a > 1)", "bool_or(a > 1)"),
    }
    rows = "(select c_nationkey as k, c_acctbal as a from customer)"
    for strategy, calls in said.items():
        for call in calls:
            plan = compiled(engine, f"select k, {call} as x from {rows} group by k")
            assert strategies(plan)["State"] == strategy, call


@pytest.mark.parametrize(
    ("joined", "transition"),
    [
        ("left join region on n_regionkey = r_regionkey", "transition by key"),
        ("left join region on n_regionkey = r_regionkey and n_nationkey > r_regionkey", "transition by row"),
        ("left join region on n_regionkey > r_regionkey", "transition by row"),
        ("where not exists (select 1 from region)", "transition by row"),
    ],
)
def test_matches_are_counted_by_key_if_equal_columns_decide(engine, joined, transition):
    found = strategies(compiled(engine, f"select n_name from nation {joined}"))
    assert transition in found.values()
