"""IN and NOT IN as output or inside expressions: Spark never returns NULL for them."""

from __future__ import annotations

import pytest

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


def test_in_is_what_spark_takes_it_for(either_spark):
    lab = Lab(either_spark, "in_values")
    lab.table("n", "i int, v int", "(1, 1)", "(null, 2)", "(3, 3)")
    lab.table("s", "y int", "(1)", "(7)")
    views = [
        lab.view(f"v{number}", f"select i, v, {value} as found from n") for number, value in enumerate(VALUES)
    ]
    side_by_side(lab, views, View.build)
    lab.run(
        "insert into s values (null)", "delete from s where y = 7", "insert into n values (4, null), (7, 7)"
    )
    assert refresh_all(lab, views) == {"incremental"}
    side_by_side(lab, views, View.check)
