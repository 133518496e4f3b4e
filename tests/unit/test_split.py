"""What of a query is stored, and what the public view computes."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Aggregate
from sparkivm.algebra.moment import moments
from sparkivm.plan.split import Split, split
from tests.reading import read


def halves(sql: str) -> Split:
    return split(read(sql))


@pytest.mark.parametrize(
    ("end", "takes_all"),
    [("", True), ("limit 3", False), ("offset 2", False), ("limit 3 offset 2", False)],
)
def test_a_limit_or_an_offset_leaves_rows_out(end, takes_all):
    assert halves(f"select k, count(*) as n from r group by k order by k {end}").takes_all is takes_all


@pytest.mark.parametrize(
    "sql",
    [
        "select k, count(*) as n, current_date as d from r group by k",
        "select k, count(*) as n from r group by k having count(*) > 1 and max(s) < cast(current_date as string)",
        "select k, rank() over (order by count(*)) as n, current_date as d from r group by k",
        "select k, n, current_date as d from (select k, rank() over (order by count(*)) as n from r group by k)",
    ],
)
def test_what_reads_the_time_is_stored(sql):
    """In the public view it would be the reader's time."""
    found = halves(sql)
    above = (*found.output, *([found.having] if found.having else []))
    assert not any(map(moments, above))
    assert found.windows is None or not any(
        moments(one) for node in found.windows.walk() for one in node.scalars
    )
    assert any(moments(one) for node in found.core.walk() for one in node.scalars)


def test_windows_over_all_groups_are_computed_by_the_reader():
    found = halves("select k, rank() over (order by count(*)) as n from r group by k")
    assert isinstance(found.core, Aggregate)
    assert found.windows is not None
