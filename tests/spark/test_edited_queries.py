"""Edited queries on Spark: a state that is replaced from itself, in both formats."""

from __future__ import annotations

import pytest

from tests.spark.lab import Lab

pytestmark = pytest.mark.spark

ROWS = "select t.id, t.x, u.y from t left join u on t.k = u.k"
EDITED = (
    "select t.id, t.x * 2 as twice, t.x, u.y, coalesce(u.y, t.x) as z, concat(t.x, '-', u.y) as text, "
    "cast(t.x as double) / 3 as third, struct(t.x, u.y) as pair from t left join u on t.k = u.k"
)
GROUPS = "select k, count(*) as n, sum(x) as s, count(x) as nx from t group by k"
EDITED_GROUPS = (
    "select k, sum(x) as s, avg(x) as mean, count(*) as n, count(x) as nx, "
    "rank() over (order by sum(x) desc, k) as place from t group by k having count(*) > 0"
)


@pytest.mark.parametrize(
    ("before", "after"), [(ROWS, EDITED), (GROUPS, EDITED_GROUPS)], ids=["rows", "groups"]
)
def test_an_edit_between_changes(either_spark, before, after):
    lab = Lab(either_spark, "edited")
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, null)", "(3, 2, null)")
    lab.table("u", "k int, y int", "(1, 10)")
    lab.view("m", before).build()
    lab.run("insert into t values (4, 2, 8)", "update u set y = 11")
    view = lab.view("m", after)
    assert "the query was edited" in view.must_be("incremental").explanation
    view.check_columns()
    lab.run("delete from t where id = 1", "insert into u values (2, 12)")
    view.must_be("incremental")
    view.must_be("no_op")
