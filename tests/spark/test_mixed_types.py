"""Columns of different types in comparisons: '1' and '01' both equal 1, and are not the same."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.spark.lab import Lab, View, side_by_side
from tests.spark.rounds import refresh_all

pytestmark = [pytest.mark.spark, pytest.mark.slow]

QUERIES = {
    "joined": "select t.s, max(n.v) as m from t join n on t.s = n.i group by t.s",
    "through": "select t.s, u.s as s2, n.v from t join n on t.s = n.i join u on u.s = n.i",
    "beside": "select n.i, n.v, t.s from n left join t on n.i = t.s",
    "found": "select i, v from n left semi join (select s from t group by s) as g on g.s = n.i",
    "missing": "select i, v from n where not exists (select 1 from t where t.s = n.i)",
    "within": "select i, v from n where i in (select cast(s as int) from t group by s)",
    "large": "select n.v, max(d.x) as x, count(*) as c from n join d on n.v = d.x group by n.v",
}
CHANGES = (
    "insert into t values ('01', 5), ('3', 6), ('02', 4), (null, 9)",
    "delete from t where s = '2'",
    "insert into n values (1, 30), (7, 9007199254740993), (null, null)",
    "insert into u values (' 1', 7)",
)


def test_in_compares_them_as_texts(spark):
    lab = Lab(spark, "mixed_types_in")
    lab.table("n", "i int, v bigint", "(1, 10)", "(2, 20)")
    lab.table("t", "s string", "('01')", "('2')")
    view = lab.view("m", "select i from n\nwhere i not in (select s from t) or v > 25")
    result = view.must_be("create", Reason.TYPE_NOT_SUPPORTED)
    assert "IN compares int with string" in result.fallback.detail
    assert result.fallback.place.line == 2


def test_what_is_equal_but_not_the_same(spark):
    lab = Lab(spark, "mixed_types")
    lab.table("n", "i int, v bigint", "(1, 10)", "(2, 20)", "(5, 50)", "(7, 9007199254740992)")
    lab.table("t", "s string, w int", "('1', 1)", "('2', 2)", "('1', 3)")
    lab.table("u", "s string, w int", "('1', 1)", "('2', 2)")
    lab.table("d", "x double", "(10.0)", "(20.5)", "(9007199254740992.0)")
    views = [lab.view(name, sql) for name, sql in QUERIES.items()]
    side_by_side(lab, views, View.build)
    lab.run(*CHANGES)
    assert refresh_all(lab, views) <= {"incremental", "no_op"}
    side_by_side(lab, views, View.check)
