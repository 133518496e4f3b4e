"""How changes are read: the change data feed, the difference of two versions, the feed of another view."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.pins import Pins
from tests.spark.lab import FEED, Lab, View, refused
from tests.spark.saved_tables import SavedTables

pytestmark = pytest.mark.spark

BY_K = "select k, count(*) as n, sum(x) as s from t group by k"


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    lab = Lab(spark, "change_sources")
    lab.table("t", "id int, k int, x decimal(10,2)", "(1, 1, 1.5)", "(2, 1, 2.5)", "(3, 2, 4)")
    lab.view("m", BY_K).build()
    return SavedTables(lab, tmp_path_factory.mktemp("change_sources"))


@pytest.fixture
def lab(spark) -> Lab:
    return Lab(spark, "change_sources")


@pytest.fixture
def view(saved, lab) -> View:
    """A grouped view of `t`, which holds three rows."""
    saved.put_into(lab)
    return lab.view("m", BY_K)


def test_many_commits_are_netted(lab, view):
    lab.run(
        "insert into t values (4, 3, 1)",
        "update t set k = 4 where id = 4",
        "update t set x = x + 1",
        "delete from t where id = 4",
        "merge into t using (select 1 as i) s on t.id = s.i when matched then update set x = 1.5",
        "insert into t values (5, 2, 8)",
    )
    result = view.must_be("incremental")
    assert [(s.from_version, s.to_version) for s in result.sources] == [(1, 7)]


def test_changes_that_cancel_leave_no_trace(lab, view):
    before = view.content()
    lab.run("insert into t values (4, 3, 1)", "delete from t where id = 4", "update t set x = x")
    view.must_be("incremental")
    assert view.content() == before


def test_capture_is_switched_on_and_announced(lab):
    lab.run("create table t (id int, k int, x int) using delta", "insert into t values (1, 1, 1)")
    view = lab.view("m", BY_K)
    warnings = view.must_be("create").warnings
    assert len(warnings) == 1
    assert "records its changes from now on (delta.enableChangeDataFeed = true)" in warnings[0]
    lab.run("insert into t values (2, 1, 5)", "delete from t where id = 1")
    assert not view.must_be("incremental").warnings


def test_never_alter_leaves_the_source_alone(lab):
    lab.run("create table t (id int, k int, x int) using delta", "insert into t values (1, 1, 1)")
    view = lab.view("m", BY_K, change_capture="never_alter")
    view.must_be("create")
    lab.run("insert into t values (2, 1, 5)")
    view.must_be("full", Reason.CHANGE_CAPTURE_OFF)
    assert "enableChangeDataFeed" not in str(lab.rows("show tblproperties t"))
    assert not view.refresh().statements


def test_capture_that_was_off_for_a_while_is_bridged_by_a_difference(lab, view):
    lab.run(
        "alter table t set tblproperties (delta.enableChangeDataFeed = false)",
        "insert into t values (4, 3, 1)",
        "alter table t set tblproperties (delta.enableChangeDataFeed = true)",
        "delete from t where id = 1",
    )
    view.must_be("incremental")


def test_replaced_table_is_compared_with_its_former_version(lab, view):
    lab.run(
        f"create or replace table t using delta {FEED} as select id, k, x from t where id < 3 "
        "union all select 9, 9, cast(9 as decimal(10,2))"
    )
    result = view.must_be("incremental")
    assert result.sources[0].from_version == 1
    lab.run("insert into t values (10, 9, 1)")
    view.must_be("incremental")


def test_replaced_table_without_capture(lab, view):
    lab.run("create or replace table t using delta as select id, k, cast(x + 1 as decimal(10,2)) as x from t")
    view.must_be("incremental")


def test_table_dropped_and_created_again(lab, view):
    lab.run("drop table t")
    lab.table("t", "id int, k int, x decimal(10,2)", "(1, 1, 1.5)", "(2, 7, 7)")
    lab.run("insert into t values (3, 8, 8)", "insert into t values (3, 8, 8)")
    view.must_be("full", Reason.SOURCE_REPLACED)
    lab.run("insert into t values (3, 8, 8)")
    view.must_be("incremental")


@pytest.mark.parametrize("versions", [0, 1], ids=["fewer_versions", "as_many_versions"])
def test_two_tables_that_swap_their_names(lab, view, versions):
    lab.table("u", "id int, k int, x decimal(10,2)", *["(9, 9, 9)"] * versions)
    lab.run("alter table t rename to away", "alter table u rename to t", "alter table away rename to u")
    view.must_be("full", Reason.SOURCE_REPLACED)


def test_column_that_the_view_does_not_read(lab, view):
    lab.run("alter table t add columns (extra string)", "insert into t values (4, 2, 1, 'e')")
    view.must_be("incremental")


def test_column_added_to_a_star(lab):
    lab.table("t", "id int, k int", "(1, 1)")
    view = lab.view("m", "select * from t").build()
    lab.run("alter table t add columns (extra string)", "insert into t values (4, 2, 'e')")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)
    view.check_columns()


MAPPED = "tblproperties (delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name', delta.enableTypeWidening = true)"


@pytest.mark.parametrize(
    ("change", "mode", "reason"),
    [
        ("alter table t alter column x type bigint", "full", Reason.SOURCE_SCHEMA_CHANGED),
        ("alter table t rename column unread to other", "incremental", None),
        ("alter table t drop column unread", "incremental", None),
        (f"create or replace table t using delta {FEED} as select id, k, cast(x as string) as x from t", "full", Reason.SOURCE_SCHEMA_CHANGED),
    ],
)  # fmt: skip
def test_column_changed(lab, change, mode, reason):
    lab.table("t", "id int, k int, x int, unread int", "(1, 1, 1, 1)", "(2, 1, 2, 2)", clauses=MAPPED)
    view = lab.view("m", "select k, sum(x) as s, max(x) as m from t group by k").build()
    lab.run(change, "delete from t where id = 1")
    view.must_be(mode, reason)
    view.check_columns()


@pytest.mark.parametrize("change", ["rename column x to y", "drop column x"])
def test_column_that_the_view_reads_is_gone(lab, change):
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", clauses=MAPPED)
    view = lab.view("m", "select k, sum(x) as s from t group by k").build()
    before = view.content()
    lab.run(f"alter table t {change}")
    assert "Spark refuses the model's SQL" in refused(view)
    assert view.content() == before


def test_column_dropped_and_added_again_under_its_name(lab):
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", clauses=MAPPED)
    view = lab.view("m", "select k, sum(x) as s from t group by k").build()
    lab.run(
        "alter table t drop column x", "alter table t add columns (x int)", "insert into t values (2, 1, 5)"
    )
    view.refresh()
    view.check()


WRITES = {
    "merge_of_inserts": (
        "merge into t using (select 9 as i) as s on t.id = s.i when not matched then insert (id, k, x) values (s.i, 1, 2)",
        "incremental",
    ),
    "optimize": ("optimize t", "no_op"),
    "properties": ("alter table t set tblproperties (mine = 'yes')", "no_op"),
    "comment": ("comment on table t is 'a table'", "no_op"),
}


@pytest.mark.parametrize("write", WRITES)
def test_writes(lab, view, write):
    statement, mode = WRITES[write]
    lab.run("insert into t values (4, 4, 4)", "delete from t where id = 2")
    view.must_be("incremental")
    lab.run(statement)
    view.must_be(mode)
    lab.run("insert into t values (6, 1, 1)")
    view.must_be("incremental")


def test_rows_keep_their_copies(lab):
    lab.table("t", "a int, b string", "(1, 'x')", "(1, 'x')", "(1, 'x')", "(null, null)", "(null, null)")
    view = lab.view("m", "select a, b from t").build()
    lab.run("merge into t using (select 2 as n) s on t.a = 1 when matched then update set a = s.n")
    view.must_be("incremental")
    lab.run("insert into t values (2, 'x')", "insert overwrite t select * from t limit 3")
    view.must_be("incremental")


def test_vacuum_takes_files_that_nobody_needs_any_more(lab, view):
    lab.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lab.run("update t set x = 9 where id = 1")
    view.must_be("incremental")
    lab.run("vacuum t retain 0 hours")
    assert view.must_be("no_op").explanation == "no row of a source changed"
    lab.run("insert into t values (4, 1, 1)")
    view.must_be("incremental")


def test_sources_are_read_at_the_versions_of_the_run(lab, view):
    """A run sees one picture: what is written after its first look waits for the next run."""
    lab.run("insert into t values (4, 1, 1)")
    pins = Pins()
    seen = lab.version("t")
    pins.facts(lab.engine.describe(view.request.view).name, lab.engine.describe)
    table = next(iter(view.refresh(pins).sources))
    assert table.to_version == seen
    lab.run("delete from t where id = 1", "insert into t values (5, 3, 1)")
    assert view.refresh(pins).mode == "no_op"
    view.must_be("incremental")
