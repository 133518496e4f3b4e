"""PIVOT: the names of its columns, and where the value of a group without rows is not known."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import read, refusal


def pivot(aggregates: str, keys: str = "a in (1, 2 as two)") -> str:
    return f"select * from (select k, a, d, s from r) pivot ({aggregates} for {keys})"


def test_values_without_an_alias_are_named_as_text():
    sql = pivot("sum(d)", "(a, s) in ((1, 'x'), (-2, 'y') as y)")
    assert read(sql).output[-2:] == ("{1, x}", "y")


@pytest.mark.parametrize(
    ("sql", "reason", "detail"),
    [
        (pivot("sum(a + k) as s, count(*) as n"), Reason.OPERATOR_NOT_SUPPORTED, "whose type is not known"),
        (pivot("coalesce(sum(d), 0)"), Reason.OPERATOR_NOT_SUPPORTED, "whose type is not known"),
        (pivot("first(d)"), Reason.NON_DETERMINISTIC_EXPRESSION, "first"),
        (pivot("sum(d), avg(d)"), Reason.OPERATOR_NOT_SUPPORTED, "without an alias"),
        (pivot("sum(d)", "a in (1.5)"), Reason.OPERATOR_NOT_SUPPORTED, "without an alias"),
        (pivot("sum(d) filter (where k > 1)"), Reason.OPERATOR_NOT_SUPPORTED, "PIVOT with"),
    ],
)
def test_what_is_refused(sql, reason, detail):
    found = refusal(sql)
    assert found.reason is reason
    assert detail in found.detail
