"""Views whose changes are computed in steps: the step tables are dropped afterwards."""

from __future__ import annotations

import pytest

from sparkivm.marker import Marker, Role
from sparkivm.names import STEP_SUFFIX
from tests.spark.lab import Lab

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NESTED = (
    "with a as (select id, sum(n) as n from orders group by id), "
    "b as (select x.id, x.n, y.n as m from a x join a y on x.id = y.id) "
    "select u.id, v.m, w.n from b u join b v on u.n = v.n join b w on w.id = v.m"
)


def test_steps_leave_no_table_behind(spark):
    lab = Lab(spark, "steps")
    lab.table("orders", "id int, n int", "(1, 1)", "(2, 2)", "(2, 1)", "(null, 3)")
    view = lab.view("m", NESTED, refresh_mode="strict").build()
    long_ago, today, not_ours = (
        f"m{STEP_SUFFIX}{name}_1" for name in ("66000000_0a1b", "fffffff0_0a1b", "66000000_ffff")
    )
    marked = Marker(view.request.owner, Role.STEP).properties
    properties = ", ".join(f"'{key}' = '{value}'" for key, value in marked.items())
    lab.run(f"create table {not_ours} using parquet as select 1 as x")
    for name in (long_ago, today):
        lab.run(f"create table {name} using parquet tblproperties ({properties}) as select 1 as x")
    lab.run("insert into orders values (1, 2)", "delete from orders where id is null")
    result = view.must_be("incremental")
    made = [text for text in result.statements if STEP_SUFFIX in text and text.startswith("create table")]
    assert made
    left = [row.tableName for row in lab.rows("show tables") if STEP_SUFFIX in row.tableName]
    assert left == [not_ours, today], "another driver may be using it"
    assert not view.state_differences()
