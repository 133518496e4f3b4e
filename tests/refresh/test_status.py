"""What the status says of a view, its last refresh and its sources; it changes nothing and computes no row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import EngineError
from sparkivm.names import TableName
from sparkivm.refresh.operations.status import SourceStatus, ViewStatus, view_status
from sparkivm.refresh.sources.pins import Pins
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab, View

DAY_MS = 24 * 3600 * 1000


def of(view: View, later_ms: int = 0) -> ViewStatus:
    """The status some time after the newest commit of the source."""
    lab = view.lab
    lab.engine.ran.clear()
    lab.engine.asked.clear()
    newest_ms = lab.delta("t").newest.commit.timestamp_ms if lab.has("t") else 0
    found = view_status(lab.engine, view.request, Pins(), newest_ms + later_ms)
    assert (lab.engine.ran, lab.engine.asked) == ([], []), "metadata only"
    return found


def source_of(view: View, later_ms: int = 0) -> SourceStatus:
    (found,) = of(view, later_ms).sources
    return found


def took(lab: Lab, seconds: float) -> None:
    """Pretend that the last refresh took so long."""
    table = lab.delta("m__ivm")
    view = lab.view("m", BY_K)
    at_ms = view.frontier().timing.started_ms + round(1000 * seconds)
    table.change(table.newest.number, commit=replace(table.newest.commit, timestamp_ms=at_ms))


def test_a_view_that_is_current(lab, view):
    found = of(view)
    assert (found.view, found.model, found.state) == ("shop.m", "model.lab.m", "shop.m__ivm")
    assert (found.condition, found.problem, found.format, found.incremental) == ("current", "", "delta", True)
    assert (found.rows, found.files) == (2, 1)
    assert found.bytes > 0
    assert found.last_refresh.mode == "create"
    assert found.sources == (SourceStatus("shop.t", None, 1, 1),)


def test_a_view_that_is_behind(lab, view):
    lab.run("insert into t values (4, 3, 8), (5, 3, 8)", "optimize t", "delete from t where id = 1")
    found = source_of(view)
    first = lab.delta("t").history[2]
    newest = lab.delta("t").newest.commit
    minutes = round((newest.timestamp_ms - first.timestamp_ms) / 60_000, 2)
    assert (found.version, found.newest_version, found.commits_behind, found.changed_rows) == (1, 4, 2, 3)
    assert found.minutes_behind == minutes
    assert found.behind_since.timestamp() * 1000 == first.timestamp_ms
    assert source_of(view, later_ms=60 * 60_000).minutes_behind == round(minutes + 60, 2)
    assert of(view).condition == "behind"


def test_maintenance_does_not_wait(lab, view):
    lab.run("optimize t", "alter table t set tblproperties (a = 'b')")
    found = source_of(view)
    assert (found.newest_version, found.behind, found.history_days) == (3, False, None)
    assert of(view).condition == "current"


def test_days_until_files_or_the_log_are_gone(lab, view):
    """An append needs the log; after a delete, VACUUM removes what it needs."""
    lab.run("insert into t values (4, 3, 8)")
    assert 29.9 < source_of(view).history_days <= 30
    lab.run("delete from t where id = 1")
    assert 6.9 < source_of(view).history_days <= 7
    assert 4.9 < source_of(view, 2 * DAY_MS).history_days <= 5
    assert source_of(view, 8 * DAY_MS).history_days == 0
    lab.run("alter table t set tblproperties ('delta.deletedFileRetentionDuration' = 'interval 3 days')")
    assert 2.9 < source_of(view).history_days <= 3


def test_what_a_refresh_took_and_saved(lab, view):
    took(lab, 30)
    found = of(view)
    assert (found.last_refresh.seconds, found.rebuild_seconds, found.saved_seconds) == (30, 30, None)
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    took(lab, 4)
    found = of(view)
    assert (found.last_refresh.mode, found.rebuild_seconds, found.saved_seconds) == ("incremental", 30, 26)
    assert found.rows == 3, "an entry was appended"
    lab.grow_older("m__ivm", 20)
    view.must_be("no_op")
    assert (of(view).last_refresh.mode, of(view).rebuild_seconds) == ("no_op", 30)


def test_a_refresh_after_a_rebuild_of_unknown_duration(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    table = lab.delta("m__ivm")
    frontier = view.frontier()
    unknown = replace(frontier, timing=replace(frontier.timing, rebuild_ms=0)).to_json()
    table.change(table.newest.number, commit=replace(table.newest.commit, user_metadata=unknown))
    found = of(view)
    assert found.last_refresh.seconds is not None
    assert (found.rebuild_seconds, found.saved_seconds) == (None, None)


@pytest.mark.parametrize(
    ("damage", "condition", "problem"),
    [
        ("drop table m__ivm", "not_built", "STATE_MISSING"),
        ("delete from m__ivm", "rebuild", "STATE_MODIFIED"),
        ("drop view m", "broken", "its public view shop.m is missing"),
        ("drop table t", "rebuild", "there is no table shop.t"),
        ("alter table t alter column x type bigint", "rebuild", "SOURCE_SCHEMA_CHANGED"),
    ],
)
def test_what_is_wrong(lab, view, damage, condition, problem):
    lab.run(damage)
    found = of(view)
    assert found.condition == condition
    assert problem in found.problem


def test_a_source_whose_history_is_gone(lab, view):
    lab.run("insert into t values (4, 3, 8)", "insert into t values (5, 3, 8)")
    lab.forget_commits("t", 2)
    found = of(view)
    assert (found.condition, found.problem) == ("rebuild", found.sources[0].problem)
    assert "HISTORY_UNAVAILABLE" in found.problem


def test_a_view_that_was_never_built(lab):
    found = of(lab.view("m", BY_K))
    assert (found.condition, found.last_refresh, found.sources) == ("not_built", None, ())


def test_a_view_that_was_built_without_rows(lab):
    view = lab.view("m", BY_K)
    view.refresh(empty=True)
    found = of(view)
    assert (found.condition, "by --empty" in found.problem) == ("not_built", True), found


def test_names_that_belong_to_somebody_else(lab):
    lab.run("create table m__ivm using delta as select 1 as a")
    found = of(lab.view("m", BY_K))
    assert found.condition == "broken"
    assert "dbt-sparkivm did not create" in found.problem


def test_a_view_that_cannot_be_read_is_a_line_too(lab, view, monkeypatch):
    def fails(name: object) -> None:
        raise EngineError("no permission")

    monkeypatch.setattr(lab.engine, "describe", fails)
    found = of(view)
    assert (found.condition, found.problem) == ("broken", "no permission")


def test_a_source_that_is_read_through_its_mirror(lab):
    lab.run("create table p using parquet as select 1 as k, 2 as x")
    view = lab.view("m", "select k, x from p", declared=DeclaredSources("shop", {}))
    view.must_be("create")
    (found,) = of(view).sources
    assert (found.source, found.mirror, found.behind) == ("shop.p", "shop.p__ivm_mirror", False)


def test_a_view_that_is_not_incremental(lab):
    view = lab.view("m", "select k, rand() as r from t")
    view.refresh()
    found = of(view)
    assert (found.incremental, found.last_refresh.reason) == (False, "NON_DETERMINISTIC_EXPRESSION")


def test_a_view_that_is_not_incremental_needs_no_history(lab):
    """Each of its refreshes is a rebuild, which reads the newest version."""
    view = lab.view("m", "select k, rand() as r from t")
    view.refresh()
    lab.run("insert into t values (4, 3, 8)", "delete from t where id = 1")
    found = source_of(view)
    assert (found.behind, found.commits_behind, found.history_days) == (True, 2, None)
    lab.forget_commits("t", 2)
    found = of(view)
    assert (found.condition, found.problem) == ("behind", "")
    assert (found.sources[0].behind, found.sources[0].problem) == (True, "")
    lab.run("drop table t")
    assert "there is no table shop.t" in of(view).problem


def test_the_log_of_a_state_is_read_once_for_the_frontier_and_once_for_the_rows(lab, view, monkeypatch):
    """Over SQL each is a DESCRIBE HISTORY. The second reads one commit, then ten."""
    commits, asked = lab.engine.commits, list[int]()

    def counted(name: TableName, after: int) -> object:
        if name.identifier == "m__ivm":
            asked.append(after)
        return commits(name, after)

    for k in range(12):
        lab.run(f"insert into t values ({10 + k}, 3, 8)")
        view.must_be("incremental")
    newest = lab.version("m__ivm")
    monkeypatch.setattr(lab.engine, "commits", counted)
    assert of(view).last_refresh.version == newest
    assert asked == [newest - 1, newest - 1, newest - 10]
