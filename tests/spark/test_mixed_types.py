"""Comparisons of columns of different types: '1' and '01' both equal 1, but are different values."""

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
# These expressions distinguish values that compare as equal, so a column cannot replace one that equals it.
TOLD_APART = {
    "sum_by_text": "select cast(n.i as string) as k, sum(c.x) as s from n join c on n.i = c.w group by 1",
    "partition_by_text": "select n.i, sum(c.x) over (partition by cast(n.i as string)) as s from n join c on n.i = c.w",
    "inner_by_text": "select k, m from (select cast(n.i as string) as k, max(c.x) as m from n join c on n.i = c.w "
    "group by 1) where m > 1",
    "filtered_by_text": "select n.i, max(c.x) as m from n left join c on n.i = c.w where cast(n.i as string) in ('1', '7') "
    "group by n.i",
    "first_days": "select cast(a.dt as string) as k, avg(b.x) as s from a left join b on a.dt = b.ts group by 1",
    "no_day": "select cast(a.dt as string) as k, count(*) as c from a where exists (select 1 from b where b.ts = a.dt) "
    "group by 1",
    "signs": "select k, cast(d as string) as t, cast(s as string) as u from z",
    "by_sign": "select cast(d as string) as t, count(*) as c, min(cast(s as string)) as m from z group by 1",
    "flagged": "select f.k, stddev(f.w) as s, count(*) as c from (select n.i as k, t.w, n.i = t.s and t.w > 0 as same "
    "from n cross join t) as f where f.same group by f.k",
    "within_text": "select n.i, (select max(c.x) from c where c.w = n.i and cast(n.i as string) < '5') as m from n",
}
CHANGES = (
    "insert into t values ('01', 5), ('3', 6), ('02', 4), (null, 9)",
    "delete from t where s = '2'",
    "insert into n values (1, 30), (7, 9007199254740993), (null, null)",
    "insert into u values (' 1', 7)",
    "update z set d = 0.0, s = named_struct('x', 0.0D) where k = 1",
    "update z set d = -0.0D where k = 2",
    "update c set x = x + 10",
    "insert into c values (7.00, 4), (5.50, 2)",
    "update b set x = x * 2",
    "delete from b where x > 5",
)


def test_in_compares_them_as_texts(spark):
    lab = Lab(spark, "mixed_types_in")
    lab.table("n", "i int, v bigint", "(1, 10)", "(2, 20)")
    lab.table("t", "s string", "('01')", "('2')")
    view = lab.view("m", "select i from n\nwhere i not in (select s from t) or v > 25")
    result = view.must_be("create", Reason.TYPE_NOT_SUPPORTED)
    assert "IN compares int with string" in result.fallback.detail
    assert result.fallback.place.line == 2


def test_what_is_equal_but_not_the_same(either_spark):
    lab = Lab(either_spark, "mixed_types")
    lab.table("n", "i int, v bigint", "(1, 10)", "(2, 20)", "(5, 50)", "(7, 9007199254740992)")
    lab.table("t", "s string, w int", "('1', 1)", "('2', 2)", "('1', 3)")
    lab.table("u", "s string, w int", "('1', 1)", "('2', 2)")
    lab.table("d", "x double", "(10.0)", "(20.5)", "(9007199254740992.0)")
    lab.table("c", "w decimal(10,2), x double", "(1.00, 1.5)", "(2.00, 4)", "(1.50, 8)")
    signs = (
        "(1, -0.0D, named_struct('x', -0.0D))",
        "(2, 0.0, null)",
        "(3, double('NaN'), named_struct('x', 1))",
    )
    lab.table("z", "k int, d double, s struct<x:double>", *signs)
    lab.table("a", "dt date", "(date'2024-01-01')", "(date'2024-02-01')")
    lab.table("b", "ts timestamp, x double", "(timestamp'2024-01-01', 1.5)", "(timestamp'2024-02-01', 3)")
    views = [lab.view(name, sql) for name, sql in (QUERIES | TOLD_APART).items()]
    side_by_side(lab, views, View.build)
    lab.run(*CHANGES)
    assert refresh_all(lab, views) <= {"incremental", "no_op"}
    side_by_side(lab, views, View.check)
