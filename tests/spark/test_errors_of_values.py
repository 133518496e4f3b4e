"""With ANSI on, an expression may fail: a refresh fails where the model's query does, and nowhere else."""

from __future__ import annotations

import pytest
from pyspark.errors import ArithmeticException

from sparkivm.reasons import Reason
from tests.spark.lab import Lab, View, refused, side_by_side

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LARGEST = 2**63 - 1
FAILS = {
    "rows": ("select id, 10 / x as q from t", "DIVIDE_BY_ZERO"),
    "groups": ("select k, sum(cast(note as int)) as s from t group by k", "CAST_INVALID_INPUT"),
    "windows": ("select id, sum(n) over (partition by k order by id) as s from t", "ARITHMETIC_OVERFLOW"),
}
# The query filters out, or never evaluates, what would fail.
HOLDS = {
    "filtered": "select id, 10 / x as q from t where x <> 0",
    "chosen": "select id, if(x = 0, null, 10 / x) as q from t",
    "joined": "select t.id, cast(t.note as int) as i from t join u on t.id = u.id where u.good",
    "extrema": "select k, max(n) as m, count(*) as c from t group by k",
}


@pytest.mark.nightly
def test_a_refresh_fails_where_the_query_does(spark_with_ansi):
    """The view keeps its rows. Once the value is gone, the next refreshes succeed."""
    lab = Lab(spark_with_ansi, "errors_of_values")
    lab.table("t", "id int, k int, x int, n bigint, note string", "(1, 1, 1, 1, '1')", "(2, 1, 2, 2, '2')")
    lab.table("u", "id int, good boolean", "(1, true)", "(2, true)", "(3, false)")
    failing = [lab.view(name, sql) for name, (sql, _) in FAILS.items()]
    holding = [lab.view(name, sql) for name, sql in HOLDS.items()]
    side_by_side(lab, [*failing, *holding], View.build)
    before = [view.content() for view in failing]
    lab.run(f"insert into t values (3, 1, 0, {LARGEST}, 'three')")
    for view, (_, error) in zip(failing, FAILS.values(), strict=True):
        assert error in refused(view)
    assert [view.content() for view in failing] == before
    for view in holding:
        view.must_be("incremental")
    lab.run("delete from t where id = 3", "insert into t values (4, 2, 4, 4, '4')")
    for view in failing:  # the failing rows may still be among the changes
        assert view.refresh().mode in ("incremental", "full")
    for view in holding:
        view.must_be("incremental")
    for view in (*failing, *holding):
        view.check()
        assert not view.state_differences()


def test_sums_that_overflow_when_they_are_read(spark_with_ansi):
    """Readers of the view add up a group's entries; a full refresh leaves one entry."""
    lab = Lab(spark_with_ansi, "overflow_of_entries")
    lab.table("t", "k int, n bigint", "(1, 1)", "(1, 2)")
    view = lab.view("m", "select k, sum(n) as s from t group by k").build()
    lab.run(f"insert into t values (1, {LARGEST})")
    assert view.refresh().apply_form == "append"
    with pytest.raises(ArithmeticException):
        view.content()
    lab.run(f"delete from t where n = {LARGEST}")
    assert view.refresh(full_refresh=True).mode == "full"
    view.check()


def test_what_overflows_only_among_the_changes(spark_with_ansi):
    """All stored and shown sums fit, but the smallest BIGINT cannot be negated."""
    lab = Lab(spark_with_ansi, "overflow_of_changes")
    lab.table("t", "id int, k int, n bigint", f"(1, 1, -{LARGEST} - 1)", "(2, 1, 5)")
    view = lab.view("m", "select k, sum(n) as s from t group by k").build()
    lab.run("delete from t where id = 1")
    view.must_be("full", Reason.REFRESH_FAILED)
    lab.run("insert into t values (3, 1, -5)")
    view.must_be("incremental")


def test_a_row_that_a_join_drops(spark_with_ansi):
    """Groups below a join have it, the query's groups do not."""
    lab = Lab(spark_with_ansi, "error_below_join")
    lab.table("t", "id int, k int, x int", "(1, 1, 2)", "(2, 1, 5)", "(3, 2, 10)")
    lab.table("u", "k int, name string", "(1, 'a')", "(2, 'b')")
    sql = "select u.name, sum(cast(10 / t.x as int)) as s from u join t on t.k = u.k group by u.name"
    view = lab.view("m", sql, auxiliary_views="always").build()
    lab.run("insert into t values (4, 9, 0)", "update u set name = 'z' where k = 1")
    view.must_be("full", Reason.REFRESH_FAILED)
    lab.run("insert into t values (5, 2, 1)", "update u set name = 'y' where k = 1")
    view.must_be("incremental")
    lab.view("n", sql, auxiliary_views="always").build()


TWO_FOR_NO_ROW = (
    "select k, count(*) as n from t where (select u.a from u where u.k = t.k) > 0 group by k",
    "select k, a from t where (select u.a from u where u.k = t.k) > 0",
    "select k from t group by k having (select u.a from u where u.k = t.k) > 0",
)


def test_a_scalar_subquery_with_two_rows_for_no_outer_row(spark):
    """Spark tests a condition before a left join if it reads only the subquery's columns.

    In an inner join of the changes it still does, because the keys are equal. Then the view is rebuilt.
    """
    lab = Lab(spark, "two_for_no_row")
    lab.table("t", "k int, a int", "(1, 1)")
    lab.table("u", "k int, a int", "(1, 1)", "(9, 1)", "(9, 2)")
    views = [lab.view(f"v{number}", sql) for number, sql in enumerate(TWO_FOR_NO_ROW)]
    side_by_side(lab, views, View.build)
    lab.run("insert into t values (2, 2)", "insert into u values (2, 5), (8, 1), (8, 2)")
    for view in views:
        assert view.refresh().mode in ("incremental", "full")
        view.check()
