"""Views with sources and states in an Iceberg catalog of each type, in a Spark with all of them; see
test_catalogs.py.

Prints one line of JSON per catalog: its name, and what went wrong, or "".
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

from dbt.adapters.sparkivm.session import start
from dbt.adapters.sparkivm.session_defaults import session_settings
from pyspark.sql import SparkSession

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.reasons import Reason
from sparkivm.refresh.stored.drop_view import drop_incremental_view
from tests.spark.iceberg_catalogs import (
    EXTENSION,
    METASTORE,
    PACKAGES,
    hive_catalog,
    jdbc_catalog,
    rest_catalog,
)
from tests.spark.lab import Lab, View, refused
from tests.spark.rest_server import rest_server
from tests.spark.test_two_drivers import overtaken
from tests.spark_settings import SETTINGS, catalog_of_iceberg

CATALOGS = ("hadoop", "jdbc", "rest", "hive")
SUMS = "select k, count(*) as n, sum(x) as s from t group by k"
ROWS = "select t.id, t.x, Names.name from t left join Names on t.k = Names.k"
ABOVE = "select n, count(*) as groups, sum(s) as s from sums group by n"


def try_catalog(spark: SparkSession, catalog: str) -> None:
    """Create, refresh, race, keep snapshots and drop. Raises: AssertionError and whatever fails."""
    lab = Lab(spark, f"in_{catalog}", "iceberg", "iceberg", catalog)
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)", "(4, null, 8)")
    lab.table("Names", "k int, name string", "(1, 'one')", "(2, 'two')")
    views = [
        lab.view(name, sql).build() for name, sql in {"sums": SUMS, "rows": ROWS, "above": ABOVE}.items()
    ]
    for number in range(2):
        lab.run(
            f"insert into t values ({5 + number}, 2, 16), (6, 3, 32)",
            "update t set x = x + 1 where k = 1",
            "delete from t where id = 3",
            f"insert into Names values (3, 'three {number}')",
        )
        for view in views:
            view.must_be("incremental")
            assert not view.state_differences()
    for view in views:
        assert view.must_be("no_op").statements == ()
    sums, rows, above = views
    for view in (sums, rows):
        lab.run("insert into t values (7, 2, 64)", "delete from t where id = 1")
        assert overtaken(view, view.refresh).refresh().mode == "no_op"
        view.check()
        assert not view.state_differences()
    above.must_be("incremental")
    try_tags(lab, catalog)
    try_other_columns(lab)
    try_names(lab, catalog)
    for view in (above, sums, rows):
        drop(view)
    assert sorted(map(str.lower, lab.in_lake())) == ["names", "t"]
    assert not lab.engine.names_like(sums.request.view)


def try_tags(lab: Lab, catalog: str) -> None:
    """The snapshot that a view has read outlives the expiry of all others."""
    table = f"{catalog}.{lab.schema}.t"
    declared = DeclaredSources(lab.schema, {table: {"keep_snapshots": "14 days"}})
    kept = lab.view("kept", SUMS, declared=declared).build()

    def tags() -> list[str]:
        return [row["name"] for row in lab.rows(f"select name from {table}.refs where type = 'TAG'")]

    (tag,) = tags()
    lab.run(
        f"alter table {table} create tag theirs",
        "insert into t values (8, 1, 1)",
        "insert into t values (9, 1, 1)",
        f"alter table {table} drop tag theirs",
        f"alter table {table} create tag theirs",
        f"call {catalog}.system.expire_snapshots(table => '{lab.schema}.t', "
        "older_than => timestamp '2100-01-01 00:00:00')",
    )
    text = "\n".join(kept.must_be("incremental").statements)
    assert ".changes" not in text, "the range is broken, so two versions are compared"
    assert f"create or replace tag `{tag}`" in text
    assert kept.must_be("no_op").statements == ()
    assert sorted(tags()) == sorted([tag, "theirs"])
    kept.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    assert len(tags()) == 2, "the tag of the former state is gone"
    drop(kept)
    assert tags() == ["theirs"]


def try_other_columns(lab: Lab) -> None:
    """A state whose columns get other types, and one whose column somebody replaced by another of its name."""
    lab.view("edited", "select id as a, k as b from t").build()
    edited = lab.view("edited", "select cast(id as string) as a, array(k) as b from t")
    edited.must_be("full", Reason.QUERY_CHANGED)
    assert edited.must_be("no_op").statements == ()
    lab.run(
        f"alter table {edited.state} drop column b", f"alter table {edited.state} add column b array<int>"
    )
    edited.must_be("full", Reason.STATE_MODIFIED)
    drop(edited)


def try_names(lab: Lab, catalog: str) -> None:
    """Two names that differ only in case are one table in a Hive catalog, and may be two in others."""
    both = f"select a.k, b.name from {catalog}.{lab.schema}.Names a, {catalog}.{lab.schema}.NAMES b where a.k = b.k"
    view = lab.view("both", both)
    if catalog == "hive":
        view.build()
        drop(view)
    else:
        lab.table("NAMES", "k int, name string", "(1, 'other')")
        assert "names differ only in case" in refused(view)
        lab.run("drop table NAMES purge")


def drop(view: View) -> None:
    owner = view.request.owner
    drop_incremental_view(view.lab.engine, view.request.view, owner.project, owner.model)


def unreachable(spark: SparkSession) -> str:
    """The error for a source in a catalog that does not answer."""
    return refused(Lab(spark, "in_nowhere").view("m", "select id from nowhere.s.t"))


def main(directory: Path, secret: str) -> None:
    with rest_server(directory) as uri:
        settings = {
            **SETTINGS,
            **METASTORE,
            "spark.jars.packages": PACKAGES,
            "spark.sql.extensions": EXTENSION,
            **catalog_of_iceberg("hadoop", directory),
            **jdbc_catalog("jdbc", directory, secret),
            **rest_catalog("rest", directory, uri, secret),
            **hive_catalog("hive", directory),
            **rest_catalog("nowhere", directory, "http://127.0.0.1:9", secret),
        }
        start(session_settings(settings, directory), directory)
        spark = SparkSession.builder.getOrCreate()
        for catalog in CATALOGS:
            problem = ""
            try:
                try_catalog(spark.newSession(), catalog)
            except Exception:
                problem = traceback.format_exc()
            print(json.dumps([catalog, problem]), flush=True)
        print(json.dumps(["nowhere", unreachable(spark.newSession())]), flush=True)
        spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
