"""Sources whose log or files are lost or damaged: a full refresh with a reason, or an error; no row is missing."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlparse

import pytest

from sparkivm.reasons import Reason
from tests.spark.lab import Lab, View, refused
from tests.spark.saved_tables import SavedTables

pytestmark = pytest.mark.spark

BY_K = "select k, count(*) as n from t group by k"


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    lab = Lab(spark, "lost_history")
    lab.table("t", "id int, k int", "(1, 1)", "(2, 1)")
    lab.view("m", BY_K).build()
    return SavedTables(lab, tmp_path_factory.mktemp("lost_history"))


@pytest.fixture
def lab(spark, saved) -> Lab:
    lab = Lab(spark, "lost_history")
    saved.put_into(lab)
    return lab


@pytest.fixture
def view(lab) -> View:
    return lab.view("m", BY_K)


@pytest.fixture
def files(lab) -> Path:
    """The location of `t`."""
    return Path(urlparse(lab.rows("describe detail t")[0].location).path)


def commit_file(files: Path, version: int) -> Path:
    return files / "_delta_log" / f"{version:020}.json"


def forget_cached_log(spark) -> None:
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


def test_gap_in_the_log(spark, lab, view, files):
    """Delta itself would silently omit the rows of a missing commit."""
    lab.run("alter table t set tblproperties (delta.checkpointInterval = 1)")
    for i in range(3, 7):
        lab.run(f"insert into t values ({i}, {i})")
    commit_file(files, 4).unlink()
    forget_cached_log(spark)
    result = view.must_be("full", Reason.HISTORY_UNAVAILABLE)
    assert "lacks version 4" in str(result.fallback)
    lab.run("insert into t values (7, 7)")
    view.must_be("incremental")


def test_log_that_was_cleaned_up(spark, lab, view, files):
    lab.run("alter table t set tblproperties (delta.checkpointInterval = 1)")
    for i in range(3, 6):
        lab.run(f"insert into t values ({i}, {i})")
    for version in range(4):
        commit_file(files, version).unlink()
    forget_cached_log(spark)
    result = view.refresh()
    assert (result.mode, result.fallback.reason) == ("full", Reason.HISTORY_UNAVAILABLE)
    view.check()


def test_files_that_vacuum_took(lab, view):
    """Deleted rows were in files that are gone; without deletion vectors, the feed needs these files."""
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


def test_rows_of_a_damaged_source_are_never_left_out(lab, view, files):
    before = view.content()
    lab.run("insert into t values (3, 3)")
    newest = max(files.glob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)
    newest.unlink()
    refused(view)
    assert view.content() == before
