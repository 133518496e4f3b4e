"""A grouping that a query reads in several places appears once in its plan."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Aggregate, Window
from tests.golden.compiled import compiled, new_engine

TOTALS = "select o_custkey as k, sum(o_totalprice) as s from orders group by o_custkey"
RANKS = "select o_orderkey as k, o_custkey as c, row_number() over (partition by o_custkey order by o_orderkey) as n from orders"


@pytest.fixture(scope="module")
def engine():
    return new_engine()


def groups(engine, sql: str) -> int:
    """The number of different groupings in the plan."""
    core = compiled(engine, sql).core
    return sum(isinstance(node, (Aggregate, Window)) for node in core.walk())


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        (f"with x as ({TOTALS}) select a.k, b.s from x a join x b on a.k = b.k", 1),
        (f"with x as ({TOTALS}) select a.k, b.s from x a left join x b on a.k + 1 = b.k", 1),
        (f"with x as ({TOTALS}) select a.k from x a where exists (select 1 from x b where b.k = a.k + 1)", 1),
        (
            f"with x as ({RANKS}) select a.k, b.k as before from x a join x b on a.c = b.c and a.n = b.n + 1",
            1,
        ),
        (f"select a.k, b.s from ({TOTALS}) a join ({TOTALS}) b on a.k = b.k", 1),
        # Groupings with different filters are not the same.
        (f"with x as ({TOTALS}) select a.k, b.s from x a join x b on a.k = b.k and b.k > 5 and a.s > 1", 2),
        (f"select a.k, b.s from ({TOTALS}) a join ({TOTALS.replace('sum', 'max')}) b on a.k = b.k", 2),
    ],
)
def test_what_is_the_same_is_there_once(engine, sql, count):
    assert groups(engine, sql) == count
