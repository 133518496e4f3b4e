"""One commit holds data and frontier; statements are recorded in order; the session's settings are restored."""

from __future__ import annotations

import pytest

from sparkivm.changes.frontier import read_frontier
from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.stored.kept_snapshots import tag_of
from tests.refresh.conftest import BY_K
from tests.refresh.lab import View, kinds, refused

MiB = 1 << 20


def transaction(view: View) -> int:
    """The number of the state's last transaction."""
    (number,) = view.lab.delta(view.state).transactions.values()
    return number


def test_the_frontier_is_in_the_commit_of_the_data(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    assert view.operations() == ["CREATE OR REPLACE TABLE AS SELECT", "WRITE"]
    frontier = read_frontier(view.history()[-1].user_metadata)
    assert frontier is not None
    assert {key: source.version for key, source in frontier.sources.items()} == {"shop.t": lab.version("t")}
    assert frontier.base == 0


def test_a_no_op_runs_no_statement(lab, view):
    lab.engine.ran.clear()
    assert view.must_be("no_op").statements == ()
    assert lab.engine.ran == []
    assert len(view.history()) == 1


@pytest.mark.parametrize(("by_sql", "asked"), [(False, ["m__ivm"]), (True, [])])
def test_a_no_op_asks_for_no_commit_that_it_knows(lab, view, by_sql, asked):
    """Over SQL the history is a statement, and the description of a table has run it."""
    lab.engine.by_sql = by_sql
    view.must_be("no_op")
    assert lab.engine.histories == asked


@pytest.mark.parametrize(
    ("by_sql", "asked"), [(False, ["m__ivm", "t", "t", "m__ivm"]), (True, ["t", "m__ivm"])]
)
def test_a_refresh_asks_for_no_commit_that_it_knows(lab, view, by_sql, asked):
    """It asks for what happened to the source since the frontier, and for its own commit."""
    lab.engine.by_sql = by_sql
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    assert lab.engine.histories == asked


@pytest.mark.parametrize("by_sql", [False, True])
@pytest.mark.parametrize(("days", "versions"), [(14, [0]), (16, [0, 1])])
def test_only_an_old_frontier_is_written_again(lab, view, by_sql, days, versions):
    lab.engine.by_sql = by_sql
    lab.grow_older("m__ivm", days)
    view.must_be("no_op")
    assert [commit.version for commit in view.history()] == versions


def test_transaction_numbers_grow_over_rebuilds(lab, view):
    found = [transaction(view)]
    for number, options in enumerate(({}, {"full_refresh": True}, {})):
        lab.run(f"insert into t values ({number}, 3, 8)")
        view.refresh(**options)
        found.append(transaction(view))
    assert found == [0, 1, 2, 3]


def test_the_transaction_number_is_that_of_the_frontier_whatever_else_was_committed(lab, view):
    lab.run("optimize m__ivm", "optimize m__ivm", "insert into t values (4, 3, 8)")
    view.must_be("incremental")
    assert (lab.version("m__ivm"), transaction(view)) == (3, 1)


def test_the_statements_are_those_that_ran_in_their_order(lab):
    view = lab.view("m", BY_K)
    assert kinds(view.refresh().statements) == ["create or replace", "create or replace"]
    assert list(view.refresh(full_refresh=True).statements) == lab.engine.ran[2:]
    lab.engine.ran.clear()
    lab.run("insert into t values (4, 3, 8)")
    assert list(view.refresh().statements) == lab.engine.ran


def test_statements_of_capture_mirrors_and_auxiliary_views_are_recorded_too(lab):
    lab.run("create table p (k int, y int) using parquet", "insert into p values (1, 5), (2, 6)")
    lab.run("create table plain (k int, x int) using delta", "insert into plain values (1, 1), (2, 2)")
    sql = "select n, count(*) as c from (select plain.k, count(*) as n from plain join p on plain.k = p.k group by plain.k) group by n"
    view = lab.view("v", sql, auxiliary_views="always")
    assert list(view.must_be("create").statements) == [s for s in lab.engine.ran if not _is_private(s)]


def _is_private(statement: str) -> bool:
    """Cleanup of what the refresh itself made, such as the view of differences."""
    return statement.startswith("drop view if exists __ivm")


SETTINGS = {
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.sql.shuffle.partitions": "7",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.databricks.delta.commitInfo.userMetadata": "mine",
}


@pytest.mark.parametrize("settings", [{}, SETTINGS], ids=["defaults", "a hook's own"])
@pytest.mark.parametrize("failing", ["", "create or replace table", "create or replace view", "insert"])
def test_the_session_is_left_as_it_was(lab, settings, failing):
    """If a frontier stayed in the user metadata setting, it would tag somebody's next commit."""
    lab.engine.set(settings)
    session = lab.engine.session
    before = {name: session.setting(name) for name in SETTINGS}
    if failing:
        lab.engine.fails(failing, "[SOMETHING] is wrong")
    view = lab.view("m", BY_K)
    if failing.startswith("create"):
        refused(view)
    view.refresh()
    lab.run("insert into t values (4, 3, 8)")
    view.must_be(*(("full", Reason.REFRESH_FAILED) if failing == "insert" else ("incremental",)))
    after = {name: session.setting(name) for name in {**SETTINGS, **session.settings}}
    assert after == {name: before.get(name) for name in after}


def test_a_session_that_overwrites_single_partitions(lab):
    """There, INSERT OVERWRITE would keep partitions whose rows are all gone."""
    sql = "select k, max(x) as m from t group by k"
    view = lab.view("p", sql, layout=StateLayout(partition_by=("k",))).build()
    lab.engine.set({"spark.sql.sources.partitionOverwriteMode": "dynamic"})
    lab.run("delete from t where k = 2")
    assert view.must_be("incremental").apply_form == "rewrite"


def test_every_read_of_a_source_names_a_version(lab, view):
    """For a name without a version, Spark could read another version than the frontier records."""
    lab.table("u", "k int, y int", "(1, 1)")
    sql = "select t.k, u.y, max(t.x) as m from t left join u on t.k = u.k group by t.k, u.y"
    joined = lab.view("j", sql).build()
    lab.run("insert into t values (4, 3, 8)", "update u set y = 2")
    for one in (view, joined):
        for text in one.must_be("incremental").statements:
            assert "`shop`.`t`" not in text.replace("`shop`.`t` version as of", "").replace(
                "'`shop`.`t`'", ""
            )
            assert "`shop`.`u`" not in text.replace("`shop`.`u` version as of", "").replace(
                "'`shop`.`u`'", ""
            )


def test_only_what_belongs_to_the_view_is_written(lab, view):
    """Sources and other tables get no additional commit."""
    lab.table("other", "a int", "(1)")
    versions = {name: lab.version(name) for name in ("t", "other")}
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    assert {name: lab.version(name) for name in ("t", "other")} == {**versions, "t": versions["t"] + 1}
    assert lab.names() == ["m", "m__ivm", "other", "t"]


def test_large_states_mark_rows_as_deleted_from_the_first_change_on(lab, view):
    lab.resize("m__ivm", 20 * MiB)
    lab.run("delete from t where id = 1")
    first = view.must_be("incremental")
    assert any("enableDeletionVectors" in text for text in first.statements)
    lab.run("delete from t where id = 2")
    assert not any("enableDeletionVectors" in text for text in view.must_be("incremental").statements)


def test_what_is_reported_of_rows_and_versions(lab, view):
    lab.run("insert into t values (4, 3, 8), (5, 4, 8)")
    result = view.must_be("incremental")
    assert (result.view, result.state) == (TableName("shop", "m"), TableName("shop", "m__ivm"))
    assert [(s.name, s.from_version, s.to_version) for s in result.sources] == [("shop.t", 1, 2)]
    assert (result.apply_form, result.rows_inserted) == ("append", 2)


def test_a_no_op_keeps_the_snapshots_that_the_view_has_read(lab, view, monkeypatch):
    """The tags on sources have to be renewed, though nothing changed."""
    tagged = []
    monkeypatch.setattr(
        "sparkivm.refresh.run.attempt.keep_snapshots",
        lambda _engine, _declared, tag, frontier, *_, **__: tagged.append((tag, frontier)),
    )
    view.must_be("no_op", declared=DeclaredSources("shop", {"shop.t": {"keep_snapshots": "14 days"}}))
    state = lab.engine.describe(TableName("shop", "m__ivm"))
    assert tagged == [(tag_of(state, view.request.owner), view.frontier())]
