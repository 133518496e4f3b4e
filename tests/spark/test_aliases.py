"""Generated SQL qualifies each column with `q1`, `q2`, …; tables may have columns of these names."""

import pytest

from tests.spark.lab import Lab, View, side_by_side

pytestmark = pytest.mark.spark

QUERIES = {
    "groups": "select id, count(*) as n, max(x) as m from t group by id",
    "joined": "select t.id, u.y from t left join u on t.id = u.id",
    "swapped": "select x as id, id as x, count(*) as n from t group by x, id having sum(x) > 2",
    "fields": "select t.id, t.q1.x as a, u.q1.x as b from t join u on t.id = u.id",
}


def test_structs_that_are_called_as_aliases_are(spark):
    lab = Lab(spark, "aliases")
    struct = "named_struct('id', 77, 'x', 78)"
    lab.table(
        "t", "id int, q1 struct<id:int,x:int>, q2 struct<id:int,x:int>, x int", f"(1, {struct}, {struct}, 5)"
    )
    lab.table(
        "u", "id int, q1 struct<id:int,x:int>, q3 struct<id:int,x:int>, y int", f"(1, {struct}, {struct}, 50)"
    )
    views = [lab.view(name, sql) for name, sql in QUERIES.items()]
    side_by_side(lab, views, View.build)
    lab.run(
        f"insert into t values (2, {struct}, null, 6), (3, null, {struct}, 7)",
        f"insert into u values (3, {struct}, {struct}, 9)",
        "update t set x = 100 where id = 1",
    )
    side_by_side(lab, views, lambda view: view.must_be("incremental"))
