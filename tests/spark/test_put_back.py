"""Sources whose files are restored from a backup at once, with as many versions as before: noticed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from dbt.adapters.sparkivm.session_catalog import SessionCatalog

from sparkivm.names import TableName
from sparkivm.reasons import Reason
from tests.plain_engine import PlainEngine
from tests.spark.lab import FEED, Lab

pytestmark = pytest.mark.spark

BY_K = "select k, count(*) as n, sum(id) as s from t group by k"


@pytest.fixture(params=[False, True], ids=["session", "by_sql"])
def lab(spark, request):
    lab = Lab(spark, "put_back")
    lab.engine = PlainEngine(spark, by_sql=request.param)
    lab.engine.session.sql("use put_back")
    yield lab
    lab.run("drop schema put_back cascade")


def put_back(spark, backup: Path, table: Path) -> None:
    shutil.rmtree(table)
    shutil.copytree(backup, table)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def test_a_source_put_back(spark, lab, tmp_path):
    lab.table("t", "id int, k int", "(1, 1)", clauses=f"location '{tmp_path}/t' {FEED}")
    shutil.copytree(tmp_path / "t", tmp_path / "backup")
    lab.run("insert into t values (2, 1)")
    view = lab.view("m", BY_K).build()
    put_back(spark, tmp_path / "backup", tmp_path / "t")
    lab.run("insert into t values (3, 1)")  # as many versions, with the same operations and sizes
    view.must_be("full", Reason.SOURCE_REPLACED)
    view.must_be("no_op")

    put_back(spark, tmp_path / "backup", tmp_path / "t")
    lab.run("insert into t values (4, 1)", "insert into t values (5, 2)")  # and one version more
    view.must_be("full", Reason.SOURCE_REPLACED)
    lab.run("insert into t values (6, 2)")
    view.must_be("incremental")

    put_back(spark, tmp_path / "backup", tmp_path / "t")
    view.must_be("full", Reason.SOURCE_REPLACED)


def test_a_state_put_back_is_another_source_and_goes_on(spark, lab, tmp_path):
    """The state continues from its old frontier; for the views over it, it is another table."""
    lab.table("t", "id int, k int", "(1, 1)")
    first = lab.view("first", "select id, k from t").build()
    second = lab.view("second", "select k, count(*) as n from first group by k").build()
    place = Path(lab.value(f"select input_file_name() from {first.state}").removeprefix("file:")).parent
    shutil.copytree(place, tmp_path / "backup")
    lab.run("insert into t values (2, 1)")
    first.must_be("incremental")
    second.must_be("incremental")
    put_back(spark, tmp_path / "backup", place)
    lab.run("insert into t values (3, 2)")
    first.must_be("incremental")
    second.must_be("full", Reason.SOURCE_REPLACED)
    second.must_be("no_op")


def test_both_ways_to_see_a_source_say_the_same_of_one_commit(spark, lab, tmp_path):
    lab.table("t", "id int, k int", "(1, 1)", clauses=f"location '{tmp_path}/t' {FEED}")
    name = TableName("put_back", "t")
    for i in range(3):
        facts = lab.engine.describe(name)
        for after in range(-1, facts.version):
            found = lab.engine.commits(name, after)
            assert [c.version for c in found] == [*range(after + 1, facts.version + 1)]
            if after == facts.version - 1:
                assert found[-1].id == facts.commit_id
        lab.run(f"insert into t values ({i}, 1)")


def test_a_view_whose_drivers_know_commits_by_other_ids(spark, lab):
    """They recognize each other's commits by time."""
    lab.table("t", "id int, k int", "(1, 1)")
    view = lab.view("m", BY_K).build()
    others = lab.another()
    others.engine = PlainEngine(spark, by_sql=isinstance(lab.engine._metadata, SessionCatalog))
    others.engine.session.sql("use put_back")
    other = replace(view, lab=others)
    other.must_be("no_op")
    lab.run("insert into t values (2, 1)")
    other.must_be("incremental")
    lab.run("insert into t values (3, 1)")
    view.must_be("incremental")
