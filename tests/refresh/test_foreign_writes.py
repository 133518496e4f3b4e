"""A state that somebody wrote to, maintained, dropped or replaced; and tables of others."""

from __future__ import annotations

import pytest

from sparkivm.changes.frontier import STATE_FORMAT
from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from tests.fake_engine.statements import execute
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab, refused

METADATA = "spark.databricks.delta.commitInfo.userMetadata"
WRITES = {
    "insert": "insert into m__ivm select * from m__ivm",
    "delete": "delete from m__ivm",
    "update": "update m__ivm set k = 7",
    "merge": "merge into m__ivm as t using (select 1 as k) as s on t.k = s.k when matched then delete",
    "overwrite": "insert overwrite m__ivm select * from m__ivm where k = 1",
    "replaced": "create or replace table m__ivm using delta as select * from m__ivm",
}


@pytest.mark.parametrize("changed", [False, True], ids=["", "and its source changed"])
@pytest.mark.parametrize("write", WRITES)
def test_a_state_that_somebody_changed(lab, view, write, changed):
    lab.run(WRITES[write])
    if changed:
        lab.run("insert into t values (4, 3, 8)")
    detail = str(view.must_be("full", Reason.STATE_MODIFIED).fallback)
    assert "version 1 of shop.m__ivm is a" in detail
    view.must_be("no_op")


@pytest.mark.parametrize("write", WRITES)
def test_a_state_that_somebody_changed_and_maintained_since(lab, view, write):
    """Maintenance after the write does not hide it."""
    lab.run(WRITES[write], "optimize m__ivm", "alter table m__ivm set tblproperties (mine = 'x')")
    view.must_be("full", Reason.STATE_MODIFIED)


def test_a_state_that_was_restored_to_an_earlier_refresh(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    lab.run("restore table m__ivm to version as of 0")
    view.must_be("full", Reason.STATE_MODIFIED)


def test_maintenance_goes_unnoticed(lab, view):
    for i in range(3):
        lab.run(f"insert into t values ({i}, {i}, {i})")
        view.must_be("incremental")
    lab.run(
        "optimize m__ivm", "vacuum m__ivm retain 0 hours", "alter table m__ivm set tblproperties (mine = 'x')"
    )
    assert view.must_be("no_op").statements == ()
    lab.run("delete from t where k = 1")
    view.must_be("incremental")


def test_auto_compaction_goes_unnoticed(lab, view):
    """It commits in the refresh's session, with the refresh's metadata."""
    lab.engine.after("insert", lambda: execute(lab.engine.session, "optimize m__ivm"), times=3)
    for i in range(3):
        lab.run(f"insert into t values ({i}, {i}, {i})")
        view.must_be("incremental")
    assert view.operations()[1:3] == ["WRITE", "OPTIMIZE"]
    view.must_be("no_op")


def test_a_state_that_was_dropped(lab, view):
    lab.run("drop table m__ivm", "insert into t values (4, 3, 8)")
    view.must_be("create")
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("incremental")


@pytest.mark.parametrize("options", [{}, {"full_refresh": True}, {"empty": True}], ids=["", "full", "empty"])
def test_a_state_that_is_no_delta_table_any_more(lab, view, options):
    lab.run("drop table m__ivm", "create table m__ivm using parquet as select 1 as x")
    assert "that dbt-sparkivm did not create" in refused(view, **options)
    assert lab.rows("select * from m__ivm") == [(1,)]
    lab.run("drop table m__ivm")
    view.must_be("create")


@pytest.mark.parametrize("options", [{}, {"full_refresh": True}, {"empty": True}], ids=["", "full", "empty"])
def test_a_table_of_somebody_by_the_name_of_the_state(lab, options):
    lab.run("create table own__ivm using delta as select 1 as x")
    own = lab.view("own", BY_K)
    assert "that dbt-sparkivm did not create" in refused(own, **options)
    with pytest.raises(ModelError, match="has no table or view"):
        own.drop()
    assert lab.rows("select * from own__ivm") == [(1,)]
    assert len(lab.delta("own__ivm").versions) == 1
    assert not lab.has("own")


def test_a_table_of_somebody_by_the_name_of_the_view(lab):
    """The state may be built, but the table stays unchanged."""
    lab.run("create table own using delta as select 1 as x")
    with pytest.raises((ModelError, EngineError)):
        lab.view("own", BY_K).refresh()
    assert lab.rows("select * from own") == [(1,)]


def tag(lab: Lab, metadata: str) -> None:
    """Commit to the state as somebody with other metadata."""
    execute(lab.session, f"set {METADATA}={metadata}")
    lab.run("alter table m__ivm set tblproperties (written = 'elsewhere')")
    del lab.session.settings[METADATA]


FORMATS = {
    "of another version": lambda text: text.replace(f'"sparkivm":{STATE_FORMAT}', '"sparkivm":999'),
    "of no version": lambda text: text.replace(f'"sparkivm":{STATE_FORMAT}', '"sparkivm":"x"'),
    "with a field more": lambda text: text.replace('{"', '{"unknown":1,"', 1),
    "with a field less": lambda text: text.replace('"plan":', '"plane":', 1),
}


@pytest.mark.parametrize("format", FORMATS)
def test_a_state_of_another_format(lab, view, format):
    text = view.history()[-1].user_metadata or ""
    other = FORMATS[format](text)
    assert other != text
    tag(lab, other)
    view.must_be("full", Reason.STATE_FORMAT_CHANGED)
    view.must_be("no_op")


@pytest.mark.parametrize("metadata", ["mine", "sparkivm was here", "[1]", '{"a": 1}'])
def test_metadata_of_others_is_not_read(lab, view, metadata):
    tag(lab, metadata)
    assert view.must_be("no_op").statements == ()


def test_a_frontier_that_was_cleaned_up(lab, view):
    """As after weeks without a refresh: the log has lost the commit that holds the frontier."""
    lab.run("optimize m__ivm")
    lab.forget_commits("m__ivm", 0)
    view.must_be("full", Reason.FRONTIER_MISSING)
    view.must_be("no_op")


@pytest.mark.parametrize("by_sql", [False, True])
def test_a_frontier_below_some_commits_of_maintenance(lab, view, by_sql):
    """Over SQL, the description of the state has its newest commit, but not the ones before."""
    lab.engine.by_sql = by_sql
    lab.run(*["optimize m__ivm"] * 30)
    view.must_be("no_op")


def test_a_frontier_below_many_commits_of_maintenance(lab, view):
    lab.run(*["optimize m__ivm"] * 1100, "insert into t values (4, 3, 8)")
    view.must_be("full", Reason.FRONTIER_MISSING)


@pytest.mark.parametrize(("days", "statements"), [(14, 0), (16, 1)])
def test_a_frontier_is_written_again_before_it_is_cleaned_up(lab, view, days, statements):
    lab.grow_older("m__ivm", days)
    found = view.must_be("no_op").statements
    assert len(found) == statements
    if statements:
        assert view.operations()[-1] == "SET TBLPROPERTIES"
        lab.forget_commits("m__ivm", 0)
        assert view.must_be("no_op").statements == ()
        lab.run("insert into t values (4, 3, 8)")
        view.must_be("incremental")


@pytest.mark.parametrize(("days", "statements"), [(0.5, 0), (1.5, 1)])
def test_a_frontier_follows_its_sources_once_a_day_though_no_row_changed(lab, view, days, statements):
    """Otherwise each refresh would read the same commits, until they are gone."""
    lab.run("optimize t")
    lab.grow_older("m__ivm", days)
    result = view.must_be("no_op")
    assert (len(result.statements), result.explanation) == (statements, "no row of a source changed")
    assert view.frontier().sources["shop.t"].version == 1 + statements
    assert view.must_be("no_op").statements == ()


def test_a_frontier_that_is_written_again_by_two_drivers(lab, view):
    lab.grow_older("m__ivm", 20)
    slow = view.on(lab.another())
    slow.lab.engine.before("alter table", lambda: view.must_be("no_op"))
    slow.must_be("no_op")
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")


def test_a_frontier_that_is_written_again_after_another_driver_refreshed(lab, view):
    """It has no rows of its own, so the commit below it describes the state."""
    lab.grow_older("m__ivm", 20)
    slow = view.on(lab.another())

    def refreshed() -> None:
        lab.run("insert into t values (4, 3, 8)")
        view.must_be("incremental")

    slow.lab.engine.before("alter table", refreshed)
    slow.must_be("no_op")
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("incremental")


@pytest.mark.parametrize(
    "write", ["delete from m__ivm where k = 1", "insert into m__ivm select * from m__ivm"]
)
def test_a_frontier_that_is_written_again_after_somebody_else_wrote(lab, view, write):
    lab.grow_older("m__ivm", 20)
    slow = view.on(lab.another())
    slow.lab.engine.before("alter table", lambda: lab.run(write))
    slow.must_be("full", Reason.STATE_MODIFIED)


def test_a_source_that_somebody_drops_while_its_feed_is_switched_on(lab):
    lab.table("w", "id int, k int, x int", "(1, 1, 1)", clauses="")
    lab.engine.after("alter table `shop`.`w`", lambda: lab.run("drop table w"))
    assert "there is no table or view w" in refused(lab.view("v", BY_K.replace("from t", "from w")))


# columns and files of the state

ALTERATIONS = {
    "two swapped": ("rename column s to x", "rename column n to s", "rename column x to n"),
    "one dropped and added": ("drop column s", "add columns (s bigint)"),
    "renamed": ("rename column s to c",),
    "dropped": ("drop column s",),
    "added": ("add columns (more int)",),
    "widened": ("alter column k type bigint",),
    "moved": ("alter column s first",),
}


@pytest.mark.parametrize("changed", [False, True], ids=["", "and its source changed"])
@pytest.mark.parametrize("name", ALTERATIONS)
def test_a_state_whose_columns_somebody_altered(lab, name, changed):
    mapped = StateLayout(tblproperties={"delta.columnMapping.mode": "name"})
    view = lab.view("v", "select k, x as n, x + 1 as s from t", layout=mapped).build()
    lab.run(*(f"alter table v__ivm {change}" for change in ALTERATIONS[name]))
    if changed:
        lab.run("insert into t values (4, 3, 8)")
    view.must_be("full", Reason.STATE_MODIFIED)
    view.must_be("no_op")


@pytest.mark.parametrize("sql", [BY_K, "select k, max(x) as m from t group by k", "select id, x from t"])
def test_a_state_of_which_a_file_is_lost(lab, sql):
    """Appending would also leave the state without the lost rows."""
    view = lab.view("m", sql).build()
    lab.delta("m__ivm").change(0, has_files=False)
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("full", Reason.REFRESH_FAILED)
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("incremental")


def test_a_state_that_was_put_back_goes_on_from_its_frontier(lab, view):
    """For the views over it, the state is another table."""
    over = lab.view("over", "select n, count(*) as c from m group by n").build()
    backup = lab.delta("m__ivm").fork()
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    over.must_be("incremental")
    lab.lake.add(backup)
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("incremental")
    over.must_be("full", Reason.SOURCE_REPLACED)
