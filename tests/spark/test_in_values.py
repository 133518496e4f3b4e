"""IN and NOT IN as output or inside expressions: Spark never returns NULL for them."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.spark.lab import Lab, View, side_by_side
from tests.spark.rounds import refresh_all

pytestmark = [pytest.mark.spark, pytest.mark.slow]

VALUES = (
    "i in (select y from s)",
    "not (i in (select y from s) and v > 0)",
    "(i in (select y from s)) = false",
    "(i in (select y from s)) is not true",
    "coalesce(i not in (select y from s), true)",
)


def with_tables(spark, name):
    lab = Lab(spark, name)
    lab.table("n", "i int, v int", "(1, 1)", "(null, 2)", "(3, 3)")
    lab.table("s", "y int", "(1)", "(7)")
    return lab


def test_in_is_what_spark_takes_it_for(either_spark):
    lab = with_tables(either_spark, "in_values")
    views = [
        lab.view(f"v{number}", f"select i, v, {value} as found from n") for number, value in enumerate(VALUES)
    ]
    side_by_side(lab, views, View.build)
    lab.run(
        "insert into s values (null)", "delete from s where y = 7", "insert into n values (4, null), (7, 7)"
    )
    assert refresh_all(lab, views) == {"incremental"}
    side_by_side(lab, views, View.check)


MOVED = (
    "select i from (select i, i in (select y from s) as r from n) where not r",
    "select i, not r as q from (select i, i in (select y from s) as r from n)",
    "select r, count(*) as c from (select i in (select y from s) as r from n) group by r having not r",
    "select i, x in (select y from s) as r from (select i, cast(null as int) as x from n)",
    "select x in (select y from s) as r from (select i as x from n union all select null from n)",
    "select i, (case when v > 1 then i in (select y from s) else false end) = false as r from n",
    "select n.i, s.y in (select y from s) as r from n left join s on false",
    "select n.i, s.y from n left join s on s.y > n.v and n.i not in (select y from s where y is null or y = 1)",
    "select i, e from n left join lateral explode(filter(array(i), z -> z > 1)) as g(e)",
    "select i, case when 1 = 2 then i end in (select y from s) as r from n",
)


def test_what_spark_moves_to_in_is_not_incremental(spark):
    lab = with_tables(spark, "moved_in_values")
    views = [lab.view(f"v{number}", sql) for number, sql in enumerate(MOVED)]
    for view in views:
        view.must_be("create", Reason.OPERATOR_NOT_SUPPORTED)
    lab.run("insert into s values (null)", "insert into n values (4, null), (7, 7)")
    for view in views:
        view.must_be("full", Reason.OPERATOR_NOT_SUPPORTED)


def test_not_of_a_key_that_is_an_in(spark):
    lab = Lab(spark, "in_as_key")
    lab.table("n", "i int", "(1)", "(null)", "(3)")
    lab.table("s", "y int", "(1)", "(7)")
    text = "select not (i in (select y from s)) as r, count(*) as c from n group by i in (select y from s)"
    lab.view("v", text).must_be("create", Reason.SQL_NOT_UNDERSTOOD)
