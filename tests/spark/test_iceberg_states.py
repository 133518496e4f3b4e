"""States in Iceberg tables, with Iceberg as the session catalog and no Delta table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from tests.nightly import few_of
from tests.spark.lab import Lab, View
from tests.spark.state_sizes import SIZES, take_states_for
from tests.spark.test_two_drivers import overtaken

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SUMS = "select k, count(*) as n, sum(x) as s from t group by k"
EXTREMA = "select k, max(x) as most, min(id) as first_id, sum(x) as s from t group by k"
SMALL = "select cast(k as tinyint) as k, min(cast(x as smallint)) as least, array(cast(max(id) as tinyint)) as ids from t group by 1"
ROWS = "select t.id, t.x, u.y from t left join u on t.k = u.k"
CATALOG = "spark.sql.catalog.spark_catalog"
ICEBERG = StateLayout(file_format="iceberg")


@pytest.fixture(scope="module")
def ice_spark(spark, tmp_path_factory) -> Iterator[Any]:
    """New sessions have the catalog while these tests run."""
    settings = {
        CATALOG: "org.apache.iceberg.spark.SparkSessionCatalog",
        f"{CATALOG}.type": "hadoop",
        f"{CATALOG}.cache-enabled": "false",  # otherwise other sessions see a commit half a minute later
        f"{CATALOG}.warehouse": str(tmp_path_factory.mktemp("iceberg_states")),
    }
    conf = spark.sparkContext._jsc.sc().conf()
    before = {name: conf.get(name, None) for name in settings}
    for name, value in settings.items():
        conf.set(name, value)
    yield spark.newSession()
    for name, value in before.items():
        if value is None:
            conf.remove(name)
        else:
            conf.set(name, value)


@pytest.fixture
def lab(ice_spark, request) -> Lab:
    """A new schema for each test, because the catalog keeps a dropped schema's tables."""
    lab = Lab(ice_spark, re.sub(r"\W+", "_", f"iceberg_states {request.node.name}").rstrip("_"))
    lab.run(
        "create table t (id int, k int, x int) using iceberg",
        "insert into t values (1, 1, 1), (2, 1, 2), (3, 2, 4), (4, null, 8)",
        "create table u (k int, y int) using iceberg",
        "insert into u values (1, 10), (1, 10), (2, 20)",
    )
    return lab


def built(lab: Lab, name: str, sql: str) -> View:
    return lab.view(name, sql, layout=ICEBERG).build()


@pytest.mark.parametrize("size", few_of(SIZES, ["small"]))
def test_each_kind_of_state(lab, monkeypatch, size):
    take_states_for(size, monkeypatch)
    views = [built(lab, name, sql) for name, sql in {"a": SUMS, "b": EXTREMA, "c": ROWS, "d": SMALL}.items()]
    lab.run("insert into t values (5, 2, 16), (6, 3, 32)")
    for view in views:
        view.must_be("incremental")
        assert not view.state_differences()
    lab.run(
        "update t set x = x + 1 where k = 1", "delete from t where id = 3", "insert into u values (3, 30)"
    )
    forms = set()
    for view in views:
        forms.add(view.must_be("incremental").apply_form)
        assert not view.state_differences()
        view.must_be("no_op")
    assert forms == ({"merge"} if size != "small" else {"append", "rewrite"})


def test_expressions_over_narrow_integers(lab):
    """Iceberg stores them as INT; the scale of a quotient depends on the type."""
    narrow = "select cast(k as smallint) as k, cast(x as tinyint) as q, cast(x + 0.01 as decimal(10,2)) as d from t"
    sql = f"select k, sum(d) / k * 300 as p, sum(d) / max(q) as m, cast(sum(d) / k as string) as s from ({narrow}) group by k"
    lab.run("insert into t values (5, 3, 1), (6, 7, 3)")
    view = built(lab, "over_narrow", sql)
    view.check_columns()
    lab.run("insert into t values (7, 3, 2), (8, 9, 1)")
    view.must_be("incremental")


@pytest.mark.nightly
def test_a_rebuild(lab):
    view = built(lab, "m", SUMS)
    lab.run("insert into t values (5, 2, 16)")
    assert view.refresh(full_refresh=True).mode == "full"
    view.must_be("no_op")
    lab.run("insert into t values (6, 2, 16)")
    view.must_be("incremental")


@pytest.mark.nightly
def test_session_that_overwrites_single_partitions(lab):
    """There, INSERT OVERWRITE would keep partitions whose rows are all gone, or make no commit."""
    options = {"layout": StateLayout(file_format="iceberg", partition_by=("k",))}
    view = lab.view("p", "select k, max(x) as m from t group by k", **options).build()
    lab.engine.session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    lab.run("delete from t where k = 2")
    assert view.must_be("incremental").apply_form in ("rewrite", "recompute")
    lab.run("delete from t")
    view.must_be("incremental")


@pytest.mark.nightly
def test_what_another_one_wrote(lab):
    view = built(lab, "m", SUMS)
    lab.run("insert into m__ivm select * from m__ivm")
    assert view.refresh().mode == "full"
    view.check()


def test_edited_queries(lab):
    """A tinyint is stored as an int: an expression over it needs the source, as it may overflow."""
    built(lab, "a", SUMS)
    built(lab, "b", ROWS)
    built(lab, "c", "select id, cast(x as tinyint) as small from t")
    lab.run("delete from t where id = 1")
    edited = {"a": SUMS.replace("sum(x) as s", "sum(x) as s, sum(x) / count(*) as mean"),
              "b": ROWS.replace("u.y", "u.y, t.x + u.y as z")}  # fmt: skip
    for name, sql in edited.items():
        view = lab.view(name, sql, layout=ICEBERG)
        assert "the query was edited" in view.must_be("incremental").explanation
        view.must_be("no_op")
    sql = "select id, cast(x as tinyint) as small, cast(x as tinyint) + cast(1 as tinyint) as next from t"
    lab.view("c", sql, layout=ICEBERG).must_be("full", Reason.QUERY_CHANGED)


@pytest.mark.nightly
@pytest.mark.parametrize("size", SIZES)
def test_rolled_back_while_a_refresh_runs(lab, monkeypatch, size):
    """Iceberg accepts the refresh's commit, which then follows another snapshot than the one that was read."""
    take_states_for(size, monkeypatch)
    view = built(lab, "m", SUMS)
    lab.run("insert into t values (5, 2, 16)")
    view.must_be("incremental")
    lab.run("insert into t values (6, 2, 32)")

    def roll_back() -> None:
        first = lab.value(
            f"select snapshot_id from {lab.schema}.m__ivm.history order by made_current_at limit 1"
        )
        lab.run(f"call spark_catalog.system.rollback_to_snapshot('{lab.schema}.m__ivm', {first})")

    overtaken(view, roll_back).refresh()
    view.check()
    assert not view.state_differences()
    lab.run("insert into t values (7, 2, 64)")
    view.must_be("incremental")


def test_a_file_of_the_state_that_is_lost(lab):
    """An append does not read it."""
    view = built(lab, "m", SUMS)
    facts = lab.engine.describe(view.request.state)
    assert lab.engine._metadata.has_all_files(facts)
    Path(lab.value(f"select file_path from {lab.schema}.m__ivm.files limit 1").removeprefix("file:")).unlink()
    assert not lab.engine._metadata.has_all_files(facts)
    lab.run("insert into t values (5, 2, 16)")
    view.must_be("full", Reason.REFRESH_FAILED)


@pytest.mark.nightly
@pytest.mark.parametrize("refreshed", [False, True], ids=["after a rebuild", "after a refresh from changes"])
def test_a_column_of_the_state_that_was_made_again(lab, refreshed):
    view = built(lab, "m", SUMS)
    if refreshed:
        lab.run("insert into t values (5, 2, 16)")
        view.must_be("incremental")
    lab.run("alter table m__ivm drop column __ivm_sum_x", "alter table m__ivm add column __ivm_sum_x bigint")
    view.must_be("full", Reason.STATE_MODIFIED)
    view.must_be("no_op")
