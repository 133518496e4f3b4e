"""States in Iceberg tables, in a catalog beside Delta's session catalog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from sparkivm.formats import iceberg_states
from sparkivm.marker import Marker, Role, owner_of
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.expire_snapshots import expire_snapshots
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.stored.drop_view import drop_incremental_view
from tests.spark.lab import Lab, refused

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SUMS = "select k, count(*) as n, sum(x) as s from t group by k"
ROWS = "select t.id, t.x, u.y from t left join u on t.k = u.k"
ICEBERG = StateLayout(file_format="iceberg")
BESIDE = "spark.sql.catalog.states"
IN_CATALOG = StateLayout(file_format="iceberg", catalog="states")


@pytest.fixture(scope="module")
def beside_delta(spark, tmp_path_factory) -> Iterator[Any]:
    """A session with Delta sources and an Iceberg catalog for states."""
    settings = {
        BESIDE: "org.apache.iceberg.spark.SparkCatalog",
        f"{BESIDE}.type": "hadoop",
        f"{BESIDE}.cache-enabled": "false",
        f"{BESIDE}.warehouse": str(tmp_path_factory.mktemp("states")),
    }
    conf = spark.sparkContext._jsc.sc().conf()
    for name, value in settings.items():
        conf.set(name, value)
    yield spark.newSession()
    for name in settings:
        conf.remove(name)


@pytest.fixture
def mixed(beside_delta, request) -> Lab:
    lab = Lab(beside_delta, re.sub(r"\W+", "_", f"beside_delta {request.node.name}").rstrip("_"))
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)", "(4, null, 8)")
    lab.table("u", "k int, y int", "(1, 10)", "(1, 10)", "(2, 20)")
    return lab


def states(lab: Lab) -> list[str]:
    found = lab.rows(f"show tables in states.{lab.schema}")
    return sorted(row["tableName"] for row in found)


def test_views_over_views_beside_delta(mixed):
    lines = mixed.view("lines", ROWS, layout=IN_CATALOG).build()
    sums = mixed.view("sums", "select y, count(*) as n from lines group by y", layout=IN_CATALOG).build()
    inner = "select n, count(*) as groups from (select k, count(*) as n from t group by k) group by n"
    kept = mixed.view("kept", inner, layout=IN_CATALOG, auxiliary_views="always").build()
    mixed.run(
        "insert into t values (5, 2, 16)", "delete from t where id = 1", "update u set y = 3 where k = 2"
    )
    for view in (lines, sums, kept):
        view.must_be("incremental")
        assert not view.state_differences()
        view.must_be("no_op")
    assert states(mixed) == ["kept__ivm", "kept__ivm_aux_1__ivm", "lines__ivm", "sums__ivm"]
    names = [row["tableName"] for row in mixed.rows("show tables")]
    assert not [name for name in names if name.endswith("__ivm")]
    for view in (sums, lines, kept):
        owner = view.request.owner
        drop_incremental_view(mixed.engine, view.request.view, owner.project, owner.model)
    assert states(mixed) == []


def test_from_one_catalog_to_another(mixed):
    in_delta = mixed.view("m", SUMS).build()
    beside = in_delta.with_(layout=IN_CATALOG)
    mixed.run("insert into t values (5, 2, 16)")
    beside.must_be("full", Reason.CONFIG_CHANGED)
    assert states(mixed) == ["m__ivm"]
    assert not [row for row in mixed.rows("show tables") if row["tableName"] == "m__ivm"]
    beside.must_be("no_op")
    mixed.run("insert into t values (6, 2, 16)")
    in_delta.must_be("full", Reason.CONFIG_CHANGED)
    assert states(mixed) == []
    mixed.run("insert into t values (7, 2, 16)")
    in_delta.must_be("incremental")


def snapshots(lab: Lab, table: str) -> int:
    return int(lab.value(f"select count(*) from states.{lab.schema}.{table}.snapshots"))


def test_snapshots_that_a_view_needs_do_not_expire(mixed, monkeypatch):
    monkeypatch.setattr(iceberg_states, "_CLOCK_SKEW_MS", 0)
    below = mixed.view("below", SUMS, layout=IN_CATALOG).build()
    above = mixed.view("above", "select n, sum(s) as s from below group by n", layout=IN_CATALOG).build()
    schemas = [TableName(mixed.schema, ""), TableName(mixed.schema, "", "states")]
    now_ms = 1000 * 2**32  # years from now
    for number in range(3):
        mixed.run(f"insert into t values ({10 + number}, {number}, 1)")
        below.must_be("incremental")
    assert expire_snapshots(mixed.engine, "another", schemas, now_ms, 5) == []
    assert expire_snapshots(mixed.engine, "lab", schemas, now_ms, 5) == [], "the view above needs all of them"
    assert snapshots(mixed, "below__ivm") == 4
    above.must_be("incremental")
    lines = expire_snapshots(mixed.engine, "lab", schemas, now_ms, 5)
    assert len(lines) == 2
    assert "below__ivm: expired the snapshots older than" in " ".join(lines)
    assert (snapshots(mixed, "below__ivm"), snapshots(mixed, "above__ivm")) == (1, 1)
    for view in (below, above):
        view.must_be("no_op")
    mixed.run("delete from t where id = 1")
    for view in (below, above):
        view.must_be("incremental")


def test_snapshots_of_a_table_that_was_put_aside_are_somebody_elses(mixed):
    """The table that the model was before keeps its history."""
    mixed.view("m", SUMS, layout=IN_CATALOG).build()
    mixed.run(
        f"create table states.{mixed.schema}.mine__ivm_replaced using iceberg as select 1 as x",
        f"insert into states.{mixed.schema}.mine__ivm_replaced values (2)",
        f"alter table states.{mixed.schema}.mine__ivm_replaced set tblproperties ("
        + ", ".join(f"'{k}' = '{v}'" for k, v in put_aside(mixed).items())
        + ")",
    )
    schemas = [TableName(mixed.schema, "", "states")]
    assert expire_snapshots(mixed.engine, "lab", schemas, 1000 * 2**32, 0) == []
    assert snapshots(mixed, "mine__ivm_replaced") == 2


def put_aside(lab: Lab) -> dict[str, str]:
    view = TableName(lab.schema, "mine")
    return dict(Marker(owner_of("lab", "model.lab.mine", view), Role.PUT_ASIDE).properties)


def test_a_catalog_without_iceberg(mixed):
    view = mixed.view("m", SUMS, layout=ICEBERG)
    assert "spark_catalog cannot have Iceberg tables" in refused(view)
    assert not [row for row in mixed.rows("show tables") if row["tableName"].startswith("m")]
