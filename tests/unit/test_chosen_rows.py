"""FIRST, LAST and ANY_VALUE become MIN and MAX, except in some places."""

from __future__ import annotations

import pytest

from sparkivm.algebra.spark_text import SparkText
from sparkivm.frontend.chosen_rows import with_chosen_rows
from sparkivm.frontend.parse import parse_model
from sparkivm.reasons import Reason
from tests.reading import assert_refused


def chosen(sql: str) -> str:
    return with_chosen_rows(parse_model("model", sql)).sql(dialect=SparkText)


def of(extremum: str, field: str, condition: str = "") -> str:
    row = "STRUCT((a) IS NULL AS n1, (b) IS NULL AS n2, a AS v1, b AS v2)"
    return f"({extremum}({row}){condition}).`{field}`"


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        ("any_value(a)", "MIN(a)"),
        ("last(a)", "MAX(a)"),
        ("first(a, true)", "MIN(a)"),
        ("first(DISTINCT a)", "MIN(a)"),
        ("any_value(a) filter (where b > 1)", "MIN(a) FILTER(WHERE b > 1)"),
        ("first_value(a) + any_value(a)", "MIN(a) + MIN(a)"),
        ("first(a) + last(b)", f"{of('MIN', 'v1')} + {of('MAX', 'v2')}"),
        (
            "any_value(a) + last(b) filter (where c) ignore nulls",
            f"{of('MIN', 'v1')} + {of('MAX', 'v2', ' FILTER(WHERE c AND NOT (b) IS NULL)')}",
        ),
        ("first(a) over (order by b)", "FIRST(a) OVER (ORDER BY b)"),
        ("sum(any_value(a)) over (order by b)", "SUM(MIN(a)) OVER (ORDER BY b)"),
    ],
)
def test_calls_of_a_select(calls, found):
    assert chosen(f"select {calls} as x from r") == f"SELECT {found} AS x FROM r"


def test_each_select_has_an_order_of_its_own():
    assert chosen(
        "select first(a), (select last(b) from s) as m from r having first(a) > 1 order by first(a)"
    ) == ("SELECT MIN(a), (SELECT MAX(b) FROM s) AS m FROM r HAVING MIN(a) > 1 ORDER BY MIN(a)")


def test_a_query_without_them_stays_the_same_tree():
    tree = parse_model("model", "select max(a), first(b) over (order by a nulls first) from r")
    assert with_chosen_rows(tree) is tree


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("select * from (select k, a, b from r) pivot (first(b) as x, last(a) as y for a in (1))", "first"),
        ("select count(*) as n from r having exists (select 1 from s where s.a = last(r.a))", "last"),
        ("select max(a) ignore nulls as x from r", "max"),
    ],
)
def test_where_no_row_is_chosen(sql, name):
    detail = f"{name} takes the value of any row of the group"
    assert_refused(sql, Reason.NON_DETERMINISTIC_EXPRESSION, detail)
