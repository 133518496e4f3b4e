"""Hidden columns of a state: names, types, and values that overflow."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.nightly import few_of
from tests.spark import rounds
from tests.spark.lab import FEED, Lab, View, side_by_side
from tests.spark.state_sizes import SIZES, take_states_for

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LARGEST = "9" * 38
OF_BLANKS = {
    "key": "select `order id` as oid, count(*) as c from t group by `order id`",
    "several": "select distinct `order id` as oid, k from t",
    "sums": "select k, sum(`amt (eur)`) as s, max(`amt (eur)`) as m from t group by k",
    "others": "select k, count(distinct `order id`) as c from t group by k",
    "sorted": "select k, min(`amt (eur)`) as m from t group by k order by max(`order id`), k limit 2",
    "rows": "select `order id`, `amt (eur)` / 2 as `half; of {it}` from t",
    "nameless": "select k, `order id` + 1, max(`amt (eur)`) from t group by 1, 2",
}
OF_INTERVALS = {
    "having": "select k from t group by k having max(at - timestamp'2024-01-01') > interval '1' hour",
    "part": "select k, extract(hour from sum(at - timestamp'2024-01-01')) as h from t group by k",
    "by_interval": "select count(*) as c from t group by at - timestamp'2024-01-01'",
    "sorted": "select id from t order by at - timestamp'2024-01-01' nulls last, id limit 2",
}
OVERFLOWING = {
    "entries": "select k, sum(d) as s from t group by k",
    "merged": "select k, sum(d) as s, max(id) as m from t group by k",
    "joined": "select u.k, t.s from u join (select k, sum(d) as s from t group by k) as t on t.k = u.k",
}


def refreshed(lab: Lab, views: list[View]) -> set[str]:
    """Refresh all views in one run and check them. Returns: the modes."""
    modes = rounds.refresh_all(lab, views)
    side_by_side(lab, views, View.check)
    return modes


def test_names_that_delta_refuses(spark):
    lab = Lab(spark, "blanks")
    mapped = FEED[:-1] + ", 'delta.columnMapping.mode' = 'name')"
    columns = "k int, `order id` int, `amt (eur)` decimal(12,2)"
    lab.table("t", columns, "(1, 1, 2.5)", "(1, 2, 1)", "(2, 3, null)", clauses=mapped)
    views = [lab.view(name, sql) for name, sql in OF_BLANKS.items()]
    side_by_side(lab, views, View.build)
    above = lab.view(
        "above", "select `order id`, count(*) as `how many` from rows group by `order id`"
    ).build()
    lab.run("insert into t values (2, 3, 7), (3, 1, 1)", "delete from t where `order id` = 2")
    assert refreshed(lab, [*views, above]) == {"incremental"}
    views[-2].must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    lab.run("insert into t values (1, 1, 1)")
    assert refreshed(lab, [*views, above]) == {"incremental"}
    full = lab.view("full", "select k, count(*), version() as `of Spark` from t group by k")
    for mode in ("create", "full"):
        full.must_be(mode, Reason.NON_DETERMINISTIC_EXPRESSION)
        lab.run("insert into t values (2, 2, 2)")


def test_intervals_are_not_stored(spark):
    lab = Lab(spark, "intervals")
    lab.table("t", "id int, k int, at timestamp", "(1, 1, timestamp'2024-01-02')", "(2, 1, null)")
    for name, sql in OF_INTERVALS.items():
        lab.view(name, sql).must_be("create", Reason.TYPE_NOT_SUPPORTED)


@pytest.mark.parametrize("size", few_of(SIZES, ["huge"]))
def test_sums_that_come_out_of_an_overflow(spark_without_ansi, monkeypatch, size):
    take_states_for(size, monkeypatch)
    lab = Lab(spark_without_ansi, "overflows")
    lab.table("t", "id int, k int, d decimal(38,0)", f"(1, 1, {LARGEST})", "(2, 2, 5)")
    lab.table("u", "k int", "(1)", "(2)")
    views = [lab.view(name, sql) for name, sql in OVERFLOWING.items()]
    for view, reason in zip(views, (Reason.NUMERIC_OVERFLOW, Reason.NUMERIC_OVERFLOW, None), strict=True):
        view.must_be("create", reason)
    lab.run("delete from t where id = 1")
    for view in views[:2]:
        view.must_be("full", Reason.NUMERIC_OVERFLOW)
    refreshed(lab, views)
    lab.run("insert into t values (3, 1, 7)")
    assert refreshed(lab, views) == {"incremental"}
    lab.run(f"insert into t values (4, 1, {LARGEST})")
    for view in views[:2]:
        view.must_be("full", Reason.NUMERIC_OVERFLOW)
    assert refreshed(lab, views[2:]) == {"full"}
    lab.run("delete from t where id = 4", "insert into t values (5, 1, 1)")
    refreshed(lab, views)
    lab.run("insert into t values (6, 1, 1), (7, 3, 2)")
    assert refreshed(lab, views) == {"incremental"}


def test_rows_that_overflow_at_once(spark_without_ansi):
    lab = Lab(spark_without_ansi, "overflows_at_once")
    lab.table("t", "k int, d decimal(38,0)", f"(1, {LARGEST})", f"(1, {LARGEST})")
    lab.view("m", "select k, sum(d) as s from t group by k").must_be("create", Reason.NUMERIC_OVERFLOW)
