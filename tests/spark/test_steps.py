"""Views whose changes are computed in steps: the tables between are gone afterwards."""

from __future__ import annotations

import pytest

from sparkivm.names import STEP_SUFFIX
from tests.spark.lab import Lab

pytestmark = [pytest.mark.spark, pytest.mark.slow]

NESTED = (
    "select o.id, (select max(i.n) from items i where i.id = o.id and exists (select 1 from notes n where n.n = i.n "
    "and n.id < o.id)) as m from orders o"
)


def test_steps_leave_no_table_behind(spark):
    lab = Lab(spark, "steps")
    for table in ("orders", "items", "notes"):
        lab.table(table, "id int, n int", "(1, 1)", "(2, 2)", "(2, 1)", "(null, 3)")
    view = lab.view("m", NESTED, refresh_mode="strict").build()
    long_ago, today = (f"m{STEP_SUFFIX}{second}_0a1b_1" for second in ("66000000", "fffffff0"))
    lab.run(*(f"create table {name} using parquet as select 1 as x" for name in (long_ago, today)))
    lab.run(
        "insert into notes values (1, 2)",
        "delete from items where n = 2",
        "update orders set n = 5 where id = 1",
    )
    result = view.must_be("incremental")
    made = [text for text in result.statements if STEP_SUFFIX in text and text.startswith("create table")]
    assert len(made) > 2
    left = [row.tableName for row in lab.rows("show tables") if STEP_SUFFIX in row.tableName]
    assert left == [today], "another driver may be at work with it"
    assert not view.state_differences()
