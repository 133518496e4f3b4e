"""CHAR columns are compared with Spark's padding, also where a delta has a NULL beside them."""

from __future__ import annotations

import pytest

from tests.spark.lab import Lab, View, side_by_side
from tests.spark.state_sizes import take_states_for

pytestmark = [pytest.mark.spark, pytest.mark.slow]

QUERIES = {
    "joined": "select t.id, u.id as other from t left join u on t.c = u.d where u.d <> 'a' or u.d is null",
    "not_there": "select id, c from t where not exists (select 1 from u where u.d = t.c) and c <> 'b'",
    "outer_side": "select t.id, u.d from t full join u on t.id = u.id where u.d = 'b' or t.c in ('a', 'abcd')",
    "sets": "select c, k, count(*) as n from t group by rollup (c, k) having c = 'a'",
    "united": "select c, count(*) as n from (select c from t union all select e from u) where c > 'a' group by c",
    "among": "select id, c in (select e from u) as found, case c when 'a' then 1 else 2 end as x from t",
    "counted": "select k, count(*) filter (where c = 'a') as n, max(c) as last from t group by k",
}
BATCHES = (
    ("insert into t values (4, 'b', 1), (5, 'zz', 2)", "delete from u where id = 1", "update u set e = 'a' where id = 2"),
    ("update t set c = 'a' where id in (2, 5)", "insert into u values (5, 'zz', 'zz'), (6, 'a', null)"),
)  # fmt: skip


def test_views_over_char_follow(either_spark, monkeypatch):
    lab = Lab(either_spark, "char_columns")
    lab.table("t", "id int, c char(3), k int", "(1, 'a', 1), (2, 'ab', 2), (3, null, 1)")
    lab.table("u", "id int, d char(5), e char(3)", "(1, 'a', 'a'), (2, 'ab', 'b'), (3, 'b', null)")
    views = [lab.view(name, sql) for name, sql in QUERIES.items()]
    side_by_side(lab, views, View.build)
    for batch, size in zip(BATCHES, ("small", "huge"), strict=True):
        lab.run(*batch)
        take_states_for(size, monkeypatch)
        side_by_side(lab, views, lambda view: view.must_be("incremental"))


def test_a_mirror_with_char_follows_where_rows_go(spark):
    """Delta cannot merge rows into a table with CHAR columns."""
    lab = Lab(spark, "char_mirror")
    lab.run("create table p (id int, c char(3)) using parquet", "insert into p values (1, 'a'), (2, 'b')")
    view = lab.view("m", "select c, count(*) as n from p where c <> 'b' group by c").build()
    lab.run("insert into p values (3, 'a')")
    assert view.must_be("incremental").warnings == ()
    lab.run("insert overwrite p values (3, 'a'), (4, 'c')")
    assert view.must_be("incremental").warnings == ()
