"""What happened to a source between two refreshes, and how it is read: the feed, two versions, or everything."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.reasons import Reason
from tests.refresh.conftest import BY_K
from tests.refresh.lab import FEED, MAPPED, Lab, View, refused

DIFFERENCE, FEED_READ = "version as of", "table_changes"


def read(view: View) -> str:
    """Refresh. Returns how the statements read the changes of `t`: from the feed or as a difference."""
    result = view.must_be("incremental")
    text = "\n".join(result.statements)
    assert ("table_changes('`shop`.`t`'" in text) != ("`shop`.`t` version as of" in text), text
    return FEED_READ if "table_changes" in text else DIFFERENCE


def lost(view: View) -> str:
    """Refresh. Returns why the source's history could not be used."""
    fallback = view.must_be("full", Reason.HISTORY_UNAVAILABLE).fallback
    return fallback.detail if fallback else ""


# commits that change rows


def test_many_commits_are_added_up(lab, view):
    lab.run(
        "insert into t values (4, 3, 1)",
        "update t set k = 4 where id = 4",
        "update t set x = x + 1",
        "delete from t where id = 4",
        "merge into t using (select 1 as i) s on t.id = s.i when matched then update set x = 9",
        "insert into t values (5, 2, 8)",
    )
    assert read(view) == FEED_READ


def test_changes_that_cancel_leave_no_trace(lab, view):
    before = view.content()
    lab.run("insert into t values (4, 3, 1)", "delete from t where id = 4", "update t set x = x")
    assert read(view) == FEED_READ
    assert view.content() == before


@pytest.mark.parametrize(
    "write",
    [
        "truncate table t",
        "insert into t replace where k = 1 values (7, 1, 7)",
    ],
)
def test_writes_that_take_rows_away_by_themselves(lab, view, write):
    lab.run(write)
    assert read(view) == FEED_READ


def test_an_overwrite_may_have_changed_the_partition_columns(lab, view):
    lab.run("insert overwrite t values (7, 7, 7)")
    assert read(view) == DIFFERENCE


# commits that change no rows


@pytest.mark.parametrize(
    "write",
    [
        "optimize t", "vacuum t retain 0 hours", "comment on table t is 'a table'", "alter table t set tblproperties (mine = 'yes')",
        "delete from t where id = 99", "alter table t add columns (extra string)",
    ],
)  # fmt: skip
def test_commits_that_leave_rows_alone(lab, view, write):
    lab.run(write)
    result = view.must_be("no_op")
    assert result.statements == ()
    lab.run("insert into t (id, k, x) values (6, 1, 1)")
    assert read(view) == FEED_READ


def test_operations_that_nobody_knows_may_change_rows(lab, view):
    lab.run("optimize t")
    table = lab.delta("t")
    table.change(table.newest.number, commit=replace(table.newest.commit, operation="OPTIMIZE OF TOMORROW"))
    view.must_be("incremental")


# the feed


@pytest.mark.parametrize(
    "writes",
    [
        ("alter table t set tblproperties (delta.enableChangeDataFeed = false)", "insert into t values (4, 3, 1)",
         "alter table t set tblproperties (delta.enableChangeDataFeed = true)", "delete from t where id = 1"),
        ("alter table t set tblproperties (delta.enableChangeDataFeed = false)", "delete from t where id = 1"),
        ("restore table t to version as of 0", "insert into t values (4, 3, 1)"),
        (f"create or replace table t using delta {FEED} as select id, k, x + 1 as x from t where id < 3",),
        ("create or replace table t using delta as select id, k, x + 1 as x from t",),
        ("insert into t values (4, 3, 1)", f"create or replace table t using delta {FEED} as select * from t where k = 1"),
    ],
    ids=["off for a while", "off", "restored", "replaced", "replaced without feed", "changed and replaced"],
)  # fmt: skip
def test_two_versions_are_compared_where_the_feed_has_a_gap(lab, view, writes):
    lab.run(*writes)
    assert read(view) == DIFFERENCE
    lab.run("insert into t values (9, 9, 9)")
    view.must_be("incremental")


def test_a_column_that_goes_leaves_the_feed_with_another_schema(lab):
    lab.table("u", "k int, x int, unread int", "(1, 1, 1)", clauses=MAPPED)
    view = lab.view("v", "select k, sum(x) as s from u group by k").build()
    lab.run(
        "insert into u values (2, 2, 2)", "alter table u drop column unread", "insert into u values (3, 3)"
    )
    assert "table_changes" not in view.must_be("incremental").statements[-1]


@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("deletes", [20, 21])
def test_many_deletes_through_deletion_vectors(lab, vectors, deletes):
    """The feed needs one scan for each of these deletes."""
    if vectors:
        lab.run("alter table t set tblproperties (delta.enableDeletionVectors = true)")
    lab.run(f"insert into t values {', '.join(f'({n + 10}, {n}, 1)' for n in range(30))}")
    view = lab.view("m", BY_K).build()
    lab.run(*(f"delete from t where id = {n + 10}" for n in range(deletes)))
    assert read(view) == (DIFFERENCE if vectors and deletes > 20 else FEED_READ)


def test_a_difference_has_the_right_sign(lab, view):
    """Rows of the new version are added, rows of the old version are removed."""
    lab.run(f"create or replace table t using delta {FEED} as select 7 as id, 7 as k, 7 as x")
    view.must_be("incremental")
    assert view.content() == [(7, 1, 7)]


# a lost history


def test_a_version_that_the_log_lacks(lab, view):
    """Delta itself would silently omit its rows."""
    lab.run(*(f"insert into t values ({i}, {i}, 1)" for i in range(3, 7)))
    lab.forget_commits("t", 3)
    assert "lacks version 3 of 1..5" in lost(view)
    lab.run("insert into t values (7, 7, 7)")
    view.must_be("incremental")


def test_a_log_that_was_cleaned_up(lab, view):
    lab.run(*(f"insert into t values ({i}, {i}, 1)" for i in range(3, 6)))
    lab.forget_commits("t", 0, 1, 2)
    assert "lacks version 1" in lost(view)


def test_a_log_that_begins_with_the_frontier_is_none_the_worse(lab, view):
    lab.forget_commits("t", 0)
    view.must_be("no_op")
    lab.run("insert into t values (7, 7, 7)")
    view.must_be("incremental")


def test_files_that_vacuum_took(lab, view):
    lab.run("delete from t where id = 1", "insert overwrite t values (5, 5, 5)", "vacuum t retain 0 hours")
    view.must_be("full", Reason.REFRESH_FAILED)
    lab.run("insert into t values (7, 7, 7)")
    view.must_be("incremental")


def test_vacuum_takes_what_nobody_needs(lab, view):
    lab.run("update t set x = 9 where id = 1")
    view.must_be("incremental")
    lab.run("vacuum t retain 0 hours")
    assert view.must_be("no_op").explanation == "no row of a source changed"
    lab.run("insert into t values (4, 1, 1)")
    view.must_be("incremental")


def test_rows_of_a_damaged_source_are_never_left_out(lab, view):
    before = view.content()
    lab.run("insert into t values (3, 3, 3)")
    lab.delta("t").change(lab.version("t"), has_files=False)
    assert "FAILED_READ_FILE" in refused(view)
    assert view.content() == before


# another table


def test_a_table_dropped_and_created_again(lab, view):
    lab.run("drop table t")
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 7, 7)")
    lab.run("insert into t values (3, 8, 8)", "insert into t values (3, 8, 8)")
    view.must_be("full", Reason.SOURCE_REPLACED)
    lab.run("insert into t values (3, 8, 8)")
    view.must_be("incremental")


@pytest.mark.parametrize("versions", [0, 1, 2])
def test_two_tables_that_swap_their_names(lab, view, versions):
    lab.table("u", "id int, k int, x int")
    lab.run(*["insert into u values (9, 9, 9)"] * versions)
    lab.run("alter table t rename to away", "alter table u rename to t", "alter table away rename to u")
    view.must_be("full", Reason.SOURCE_REPLACED)


def test_a_table_that_was_put_back_with_fewer_versions(lab, view):
    backup = lab.delta("t").fork()
    lab.run("insert into t values (5, 1, 1)")
    view.must_be("incremental")
    lab.lake.add(backup)
    view.must_be("full", Reason.SOURCE_REPLACED)
    view.must_be("no_op")
    lab.run("insert into t values (4, 1, 1)")
    view.must_be("incremental")


@pytest.mark.parametrize("writes", [1, 2, 3])
def test_a_table_that_was_put_back_and_written_to_since(lab, view, writes):
    """It has the known id and versions, but from other commits of the same time."""
    backup = lab.delta("t").fork()
    lab.run("insert into t values (5, 1, 1)")
    view.must_be("incremental")
    clock_ms = lab.lake.clock_ms - 1000
    lab.lake.add(backup)
    lab.lake.clock_ms = clock_ms
    lab.run(*(f"insert into t values ({n}, 6, 6)" for n in range(writes)))
    view.must_be("full", Reason.SOURCE_REPLACED)
    view.must_be("no_op")


def test_a_source_that_is_gone_for_a_while(lab, view):
    before = view.content()
    lab.run("alter table t rename to u")
    assert "there is no table or view" in refused(view)
    assert view.content() == before
    lab.run("alter table u rename to t", "insert into t values (9, 9, 9)")
    view.must_be("incremental")


# other columns


def test_a_column_that_the_view_does_not_read(lab, view):
    lab.run("alter table t add columns (extra string)", "insert into t values (4, 2, 1, 'e')")
    assert read(view) == FEED_READ


def test_a_column_added_to_a_star(lab):
    view = lab.view("v", "select * from t").build()
    lab.run("alter table t add columns (extra string)", "insert into t values (4, 2, 1, 'e')")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)


@pytest.mark.parametrize(
    "change",
    ["alter table t alter column x type bigint", f"create or replace table t using delta {FEED} as select id, k, cast(x as bigint) as x from t"],
    ids=["altered", "replaced"],
)  # fmt: skip
def test_a_type_that_changed(lab, view, change):
    lab.run(change, "delete from t where id = 1")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)


@pytest.mark.parametrize("change", ["rename column x to y", "drop column x"])
def test_a_column_that_the_view_reads_is_gone(lab, view, change):
    before = view.content()
    lab.run(f"alter table t {change}")
    assert "Spark refuses the model's SQL" in refused(view)
    assert view.content() == before


def test_a_column_dropped_and_added_again_under_its_name(lab, view):
    lab.run(
        "alter table t drop column x", "alter table t add columns (x int)", "insert into t values (9, 1, 5)"
    )
    view.refresh()
    view.check()


def test_two_columns_that_swap_their_names(lab):
    lab.table("u", "k int, x int, y int", "(1, 1, 7)", clauses=MAPPED)
    view = lab.view("v", "select k, x from u").build()
    lab.run(
        "alter table u rename column x to z",
        "alter table u rename column y to x",
        "alter table u rename column z to y",
    )
    view.must_be("incremental")


# switching the feed on


def test_the_feed_is_switched_on_and_announced(lab):
    lab.run("create table p (k int, x int) using delta", "insert into p values (1, 1)")
    view = lab.view("v", "select k, sum(x) as s from p group by k")
    (warning,) = view.must_be("create").warnings
    assert "shop.p records its changes from now on (delta.enableChangeDataFeed = true)" in warning
    assert view.must_be("no_op").statements == ()
    lab.run("insert into p values (2, 5)", "delete from p where k = 1")
    result = view.must_be("incremental")
    assert not result.warnings
    assert "table_changes" in result.statements[-1]


def test_a_source_that_records_its_changes_is_left_alone(lab):
    before = lab.version("t")
    assert lab.view("v", "select k, x from t").must_be("create").warnings == ()
    assert lab.version("t") == before


def test_never_alter_leaves_the_source_alone(lab):
    lab.run("create table p (k int, x int) using delta", "insert into p values (1, 1)")
    view = lab.view("v", "select k, sum(x) as s from p group by k", change_capture="never_alter").build()
    lab.run("insert into p values (2, 5)")
    view.must_be("full", Reason.CHANGE_CAPTURE_OFF)
    assert lab.version("p") == 2
    assert view.refresh().statements == ()


def test_a_source_that_may_not_be_altered_is_compared(lab):
    lab.run("create table p (k int, x int) using delta", "insert into p values (1, 1)")
    lab.engine.fails("alter table `shop`.`p`", "[PERMISSION_DENIED] no")
    view = lab.view("v", "select k, sum(x) as s from p group by k")
    (warning,) = view.must_be("create").warnings
    assert "PERMISSION_DENIED" in warning
    lab.run("insert into p values (2, 5)")
    assert any("`shop`.`p` version as of" in text for text in view.must_be("incremental").statements)


def test_a_feed_that_another_switched_on_meanwhile(lab: Lab):
    lab.run("create table p (k int, x int) using delta", "insert into p values (1, 1)")
    on = "alter table p set tblproperties (delta.enableChangeDataFeed = true)"
    lab.engine.before("alter table `shop`.`p`", lambda: lab.run(on))
    lab.engine.fails("alter table `shop`.`p`", "[DELTA_METADATA_CHANGED] others were faster")
    assert lab.view("v", "select k, sum(x) as s from p group by k").must_be("create").warnings == ()


def test_a_source_whose_newest_commit_is_not_in_its_log(lab):
    """The time of the version is not known then."""
    lab.forget_commits("t", lab.version("t"))
    view = lab.view("v", "select k, x from t").build()
    known = view.frontier().sources["shop.t"]
    assert (known.timestamp_ms, known.commit_id) == (0, lab.delta("t").newest.commit.id)


def test_a_driver_that_reads_commit_ids_in_the_log_only(lab, monkeypatch):
    """The id distinguishes this table from one that is put back with as many versions."""
    describe = lab.engine.describe

    def without_id(name):
        facts = describe(name)
        return facts and replace(facts, commit_id="")

    monkeypatch.setattr(lab.engine, "describe", without_id)
    view = lab.view("v", "select k, x from t").build()
    assert view.frontier().sources["shop.t"].commit_id == lab.delta("t").newest.commit.id
