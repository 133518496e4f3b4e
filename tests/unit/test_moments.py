"""Names of moments: each is recognized where it means the moment, and only there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sparkivm.algebra import Filter, Project
from sparkivm.algebra.moment import MOMENTS, at, before, is_moment, moment, moments
from sparkivm.algebra.scalar import integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.frontend.moment_calls import replace_moments
from sparkivm.normalize.pipeline import normalize
from sparkivm.reasons import Reason
from sparkivm.refresh.observation import Observation, recompiled
from sparkivm.refresh.session.moments import moments_at
from tests.reading import assert_refused, read

CALLS = {
    "current_date()": "__ivm_at_current_date",
    "current_date": "__ivm_at_current_date",
    "curdate()": "__ivm_at_current_date",
    "current_timestamp()": "__ivm_at_current_timestamp",
    "current_timestamp": "__ivm_at_current_timestamp",
    "now()": "__ivm_at_current_timestamp",
    "localtimestamp()": "__ivm_at_localtimestamp",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_its_moment(call):
    found = read(f"select k from r where s > cast({call} as string)").root.tables
    assert {key for key in found if is_moment(key)} == {CALLS[call]}
    assert "r" in found
    assert not is_moment("r")


def test_each_name_is_tried():
    assert {call.removesuffix("()") for call in CALLS} == MOMENTS.keys()


@pytest.mark.parametrize("join", ["join", "left join", "full join", "left anti join"])
def test_in_the_normal_form_filters_and_projections_alone_read_one(join):
    query = read(f"select r.k from r {join} s on r.k = s.k and r.s > cast(current_date as string)").root
    readers = [node for node in normalize(query, query.columns).walk() if any(map(moments, node.scalars))]
    assert readers
    assert all(isinstance(node, (Filter, Project)) for node in readers)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("select Current_Date as d, now() - x, k from t", "select D as d, T - x, k from t"),
        ("select current_date( ) + 1 from t where a < CURRENT_DATE", "select D + 1 from t where a < D"),
        ("select t.current_date, k as current_date from t", None),
        (
            "select current_date() current_date, max(x) current_timestamp, k current_date",
            "select D current_date, max(x) current_timestamp, k current_date",
        ),
        (
            "select case k when 1 then 2 end current_date, a div current_date, 7 current_date",
            "select case k when 1 then 2 end current_date, a div D, 7 current_date",
        ),
        (
            "select not current_date is null and x in (k, current_date)",
            "select not D is null and x in (k, D)",
        ),
        ("select now, `current_date`, 'now()' from t", None),
        ("select localtimestamp() from t", None),
    ],
)
def test_calls_in_a_text_are_replaced(text, found):
    """Columns, aliases and string literals stay, and so does a moment without a literal."""
    literals = {MOMENTS["current_date"]: "D", MOMENTS["now"]: "T"}
    assert replace_moments(text, literals) == (found or text)


_ALIKE = "current_date is a function and a column"


def test_a_column_of_the_name_of_a_moment():
    sql = "select current_date as x from (select d as current_date from r)"
    assert_refused(sql, Reason.SQL_NOT_UNDERSTOOD, _ALIKE)


def test_an_outer_column_of_the_name_of_a_moment():
    sql = "select 1 from (select d as current_date from r) as x where exists (select 1 from s where d > current_date)"
    assert_refused(sql, Reason.SQL_NOT_UNDERSTOOD, _ALIKE)


def test_an_expression_at_two_times():
    days = {False: integer(7).tree, True: integer(5).tree}
    later = expression("x > d", x="x", d=moment("day"))
    assert moments(later) == moments(before(later)) == {"day"}
    assert at(later, lambda key, old: days[old]).sql("spark") == "`x` > 7"
    assert at(before(later), lambda key, old: days[old]).sql("spark") == "`x` > 5"
    timeless = expression("x > 1", x="x")
    assert at(timeless, lambda key, old: days[old]) is before(timeless) is timeless


def test_the_literals_of_an_instant():
    """Spark says which date and local time it is there; its session is two hours ahead."""

    class Spark:
        def query(self, sql):
            assert sql.count("timestamp_micros(1704150000000001)") == 2
            return [{"today": "2024-01-02", "local": "2024-01-02 01:00:00.000001"}]

    spark: Any = Spark()
    assert moments_at(spark, 1_704_150_000_000_001) == {
        MOMENTS["current_date"]: "date '2024-01-02'",
        MOMENTS["current_timestamp"]: "timestamp '2024-01-01 23:00:00.000001Z'",
        MOMENTS["localtimestamp"]: "timestamp_ntz '2024-01-02 01:00:00.000001'",
    }


def test_another_plan_reads_other_moments():
    """Otherwise the frontier would not name what the new plan depends on."""

    def view(*moments: str) -> Any:
        return SimpleNamespace(plan=SimpleNamespace(moments=moments))

    sources: Any = SimpleNamespace(moments=lambda keys: dict.fromkeys(keys, "now"))
    nothing: Any = None
    seen = Observation(nothing, nothing, {}, view(), {}, False)
    seen = recompiled(sources, seen, view("current_date"))
    assert seen.moments == {"current_date": "now"}
    assert recompiled(sources, seen, view()).moments == {}
