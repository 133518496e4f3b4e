"""Sources whose log or files are gone or damaged: a full refresh with the reason, or an error; never fewer rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkivm.reasons import Reason
from tests.spark.lab import FEED, Lab, View, refused

pytestmark = pytest.mark.spark

BY_K = "select k, count(*) as n from t group by k"


@pytest.fixture
def lab(spark):
    lab = Lab(spark, "lost_history")
    yield lab
    lab.run("drop schema lost_history cascade")


@pytest.fixture
def view(lab, tmp_path) -> View:
    lab.table("t", "id int, k int", "(1, 1)", "(2, 1)", clauses=f"location '{tmp_path}/t' {FEED}")
    return lab.view("m", BY_K).build()


def commit_file(tmp_path: Path, version: int) -> Path:
    return tmp_path / "t" / "_delta_log" / f"{version:020}.json"


def forget_cached_log(spark) -> None:
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def test_gap_in_the_log(spark, lab, view, tmp_path):
    """Delta itself would leave the rows of a missing commit out without a word."""
    lab.run("alter table t set tblproperties (delta.checkpointInterval = 1)")
    for i in range(3, 7):
        lab.run(f"insert into t values ({i}, {i})")
    commit_file(tmp_path, 4).unlink()
    forget_cached_log(spark)
    result = view.must_be("full", Reason.HISTORY_UNAVAILABLE)
    assert "lacks version 4" in str(result.fallback)
    lab.run("insert into t values (7, 7)")
    view.must_be("incremental")


def test_log_that_was_cleaned_up(spark, lab, view, tmp_path):
    lab.run("alter table t set tblproperties (delta.checkpointInterval = 1)")
    for i in range(3, 6):
        lab.run(f"insert into t values ({i}, {i})")
    for version in range(4):
        commit_file(tmp_path, version).unlink()
    forget_cached_log(spark)
    result = view.refresh()
    assert (result.mode, result.fallback.reason) == ("full", Reason.HISTORY_UNAVAILABLE)
    view.check()


def test_files_that_vacuum_took(lab, view):
    """The rows that went are in files that are gone: the feed of a deletion without a vector reads them."""
    lab.run(
        "alter table t set tblproperties (delta.enableDeletionVectors = false)", "delete from t where id = 1"
    )
    lab.run("insert overwrite t values (5, 5)")
    lab.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lab.run("vacuum t retain 0 hours")
    view.must_be("full", Reason.REFRESH_FAILED)
    lab.run("insert into t values (7, 7)")
    view.must_be("incremental")


def test_strict_keeps_the_view_when_files_are_gone(lab, view):
    before = view.content()
    lab.run("insert overwrite t values (5, 5)")
    lab.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lab.run("vacuum t retain 0 hours")
    assert "the refresh from changes failed" in refused(view, refresh_mode="strict")
    assert view.content() == before


def test_rows_of_a_damaged_source_are_never_left_out(lab, view, tmp_path):
    before = view.content()
    lab.run("insert into t values (3, 3)")
    newest = max((tmp_path / "t").glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    newest.unlink()
    refused(view)
    assert view.content() == before
