"""Run constants as columns of the public view: types and nullability as in a table, and exact rows."""

from __future__ import annotations

import pytest

from tests.spark.lab import Lab

pytestmark = pytest.mark.spark

SQL = (
    "select id, 'a' as text, 7 as number, 1.5 as decimal, 1.5e0 as floating, true as flag, cast('{at}' as timestamp) "
    "as loaded_at, timestamp'{at}' as at, cast('{at}' as timestamp_ntz) as ntz, date'2024-02-29' as day, "
    "cast('{at}' as string) as cast_text, null as nothing, x from t where x > 0"
)


def test_a_run_of_another_time(either_spark):
    lab = Lab(either_spark, "run_constants")
    lab.table("t", "id int, x int", "(1, 1)", "(2, 2)")
    lab.view("v", SQL.format(at="2024-01-01 12:00:00.5")).build()
    assert [field.name for field in lab.session.table("v__ivm").schema] == ["id", "nothing", "x"]
    lab.run("update t set x = 3 where id = 2", "insert into t values (3, 0)")
    view = lab.view("v", SQL.format(at="2024-01-02 12:00:00.123456"))
    view.must_be("incremental")
    view.check_columns()
    view = lab.view("v", SQL.format(at="2024-01-03 12:00:00.123456"))
    assert [sql.split()[:4] for sql in view.must_be("no_op").statements] == [
        ["create", "or", "replace", "view"]
    ]
    above = lab.view("above", "select id, loaded_at, text from v").build()
    lab.view("v", SQL.format(at="2024-01-04 12:00:00.123456")).must_be("no_op")
    above.must_be("no_op")
