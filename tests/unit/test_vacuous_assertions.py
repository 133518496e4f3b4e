"""dbt-spark's date macros: COALESCE(x, NVL2(x, ASSERT_TRUE(x IS NOT NULL), NULL)) is read as x."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read


def wrapped(function: str, argument: str) -> str:
    """As dbt-spark's `spark__assert_not_null` writes it."""
    call = f"{function}({argument})"
    return f"coalesce({call}, nvl2({call}, assert_true({call} is not null), null))"


def plan(sql: str) -> str:
    return repr(read(sql).root)


@pytest.mark.parametrize(
    "sql",
    [
        "select {} as d from r",
        "select datediff({}, {}) as n from r where {} > date'2024-01-01'",
        "select {} as x, count(*) as n from r group by x",
        "select k, max({}) as d, year({}) as y from r group by k, {}",
        "select r.k from r left join s on {} = s.d",
        "select k, rank() over (partition by {} order by k, a, b) as n from r",
    ],
)
def test_the_call_is_read_without_it(sql):
    assert plan(sql.replace("{}", wrapped("date", "r.d"))) == plan(sql.replace("{}", "date(r.d)"))


def test_one_within_another():
    inner = wrapped("date", "d")
    assert plan(f"select {wrapped('to_timestamp', inner)} as x from r") == plan(
        "select to_timestamp(date(d)) as x from r"
    )


def test_over_an_aggregate():
    assert plan(f"select k, {wrapped('date', 'max(d)')} as x from r group by k") == plan(
        "select k, date(max(d)) as x from r group by k"
    )


@pytest.mark.parametrize(
    "expression",
    [
        "assert_true(d is not null)",
        "coalesce(d, nvl2(d, assert_true(d is null), null))",
        "coalesce(d, nvl2(s, assert_true(d is not null), null))",
        "coalesce(d, nvl2(d, assert_true(d is not null), d))",
        "coalesce(d, nvl2(d, assert_true(d is not null), null), d)",
    ],
)
def test_other_assertions_can_fail(expression):
    assert_refused(f"select {expression} as x from r", Reason.EXPRESSION_NOT_SUPPORTED, "assert_true")
