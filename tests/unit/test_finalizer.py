"""The public view's SELECT: over the state it returns the query's rows, in nullable types."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.engine import Field
from sparkivm.formats.iceberg_states import ICEBERG_STATES
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.golden.compiled import Empty, compiled, new_engine

ROWS = [(1, "a", 1, "x"), (2, "b", 1, "y"), (3, "c", 2, "z"), (4, "d", 2, "w"), (5, "e", 3, "x")]


@pytest.fixture(scope="module")
def engine():
    connection = new_engine()
    connection.executemany("insert into nation values (?, ?, ?, ?)", ROWS)
    return connection


@pytest.mark.parametrize(
    "sql",
    [
        "select n_nationkey, n_name from nation order by n_name desc limit 2",
        "select n_nationkey, n_name from nation order by n_name limit 2 offset 1",
        "select n_nationkey from nation order by n_name desc offset 3",
        "select n_regionkey, count(*) as n from nation group by n_regionkey having count(*) > 1 order by n_regionkey",
        "select n_regionkey, sum(n_nationkey) as s from nation group by n_regionkey order by s desc limit 1 offset 1",
        "select n_regionkey, n_regionkey % 2 as odd, max(n_name) as last from nation group by n_regionkey order by 1",
        # ORDER BY means the key, not the column with its name.
        "select -max(n_nationkey) as n_regionkey, n_regionkey as r from nation group by n_regionkey order by r",
        "select n_regionkey, count(*) as n, rank() over (order by count(*) desc, n_regionkey) as r from nation "
        "group by n_regionkey order by r",
    ],
)
def test_the_view_over_its_state_is_the_query(engine, sql):
    plan = compiled(engine, sql)
    engine.execute(f"create or replace table state as {select_text(plan.content, Empty(), DUCKDB)}")
    shown = engine.execute(plan.finalizer.text("state", "one", DUCKDB)).fetchall()
    assert shown == engine.execute(sql).fetchall()


@pytest.mark.parametrize(
    ("output", "may_be_null"),
    [
        ("sum(n_nationkey)", True),
        ("case when count(*) > 1 then 1 end", True),
        ("case when count(*) > 1 then 1 else 0 end", False),
        ("coalesce(max(n_name), '')", False),
        ("count(*) over (order by n_regionkey)", False),
    ],
)
def test_each_column_may_be_null(engine, output, may_be_null):
    """As in a table created from the query. Spark derives a view's nullability from its expressions."""
    plan = compiled(engine, f"select n_regionkey, {output} as x from nation group by n_regionkey")
    _, text = plan.finalizer.text("state", "one").split("\nfrom ")[0].split(", ", 1)
    assert text.startswith("cast(if(true, ") is not may_be_null, text


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("select n_regionkey as k, count(*) as n from nation group by 1", ["n_regionkey", "__ivm_n"]),
        ("select count(*) as n, n_regionkey as k from nation group by 2", ["__ivm_n", "n_regionkey"]),
        ("select n_regionkey + 1 as k, count(*) as n from nation group by n_regionkey", None),
        ("select n_regionkey as k, max(n_name) as n from nation group by 1", None),
        ("select n_regionkey as k, count(*) as n from nation group by 1 having count(*) > 1", None),
        ("select n_regionkey as k from nation", None),
    ],
)
def test_entries_can_be_read_if_they_add_up(engine, sql, wanted):
    text = compiled(engine, sql).finalizer.text_of_entries("state", DUCKDB)
    shown = text and [item.split(" as ")[0].strip('"') for item in text.split("\nfrom ")[0][7:].split(", ")]
    assert shown == wanted


def test_columns_that_are_stored_as_others_are_cast_back(engine):
    finalizer = compiled(engine, "select n_regionkey as k, count(*) as n from nation group by 1").finalizer
    finalizer = replace(finalizer, fields=(Field("k", "tinyint"), Field("n", "bigint")))
    assert finalizer.text("state", "one").startswith("select `n_regionkey` as `k`, ")
    text = finalizer.text("state", "one", keeps=ICEBERG_STATES.keeps)
    assert text.startswith("select cast(`n_regionkey` as tinyint) as `k`, ")
