"""How Delta provides changes: the feed, two versions, replaced tables, mapped columns; guards: tests/refresh."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from sparkivm.reasons import Reason
from tests.nightly import few_of
from tests.spark.lab import FEED, Lab, View

pytestmark = pytest.mark.spark

_NUMBER = itertools.count()
BY_K = "select k, count(*) as n, sum(x) as s from t group by k"


@pytest.fixture
def lab(spark):
    lab = Lab(spark, f"change_sources_{next(_NUMBER)}")
    yield lab
    lab.run(f"drop schema {lab.schema} cascade")


@pytest.fixture(scope="module")
def view(spark) -> Iterator[View]:
    """A grouped view of `t`, shared by all tests that only change rows."""
    lab = Lab(spark, "change_sources_shared")
    lab.table("t", "id int, k int, x decimal(10,2)", "(1, 1, 1.5)", "(2, 1, 2.5)", "(3, 2, 4)")
    yield lab.view("m", BY_K).build()
    lab.run("drop schema change_sources_shared cascade")


@pytest.mark.nightly
def test_many_commits_are_netted(view):
    before = view.lab.version("t")
    view.lab.run(
        "insert into t values (4, 3, 1)",
        "update t set k = 4 where id = 4",
        "update t set x = x + 1",
        "delete from t where id = 4",
        "merge into t using (select 1 as i) s on t.id = s.i when matched then update set x = 1.5",
        "insert into t values (5, 2, 8)",
    )
    result = view.must_be("incremental")
    assert [(s.from_version, s.to_version) for s in result.sources] == [(before, before + 6)]


def test_capture_is_switched_on_and_announced(lab):
    lab.run("create table t (id int, k int, x int) using delta", "insert into t values (1, 1, 1)")
    view = lab.view("m", BY_K)
    warnings = view.must_be("create").warnings
    assert len(warnings) == 1
    assert "records its changes from now on (delta.enableChangeDataFeed = true)" in warnings[0]
    lab.run("insert into t values (2, 1, 5)", "delete from t where id = 1")
    assert not view.must_be("incremental").warnings


def test_capture_that_was_off_for_a_while_is_bridged_by_a_difference(view):
    view.lab.run(
        "alter table t set tblproperties (delta.enableChangeDataFeed = false)",
        "insert into t values (4, 3, 1)",
        "alter table t set tblproperties (delta.enableChangeDataFeed = true)",
        "delete from t where id = 1",
    )
    view.must_be("incremental")


@pytest.mark.nightly
def test_replaced_table_is_compared_with_its_former_version(view):
    before = view.lab.version("t")
    view.lab.run(
        f"create or replace table t using delta {FEED} as select id, k, x from t where id < 3 "
        "union all select 9, 9, cast(9 as decimal(10,2))"
    )
    assert view.must_be("incremental").sources[0].from_version == before
    view.lab.run("insert into t values (10, 9, 1)")
    view.must_be("incremental")


def test_table_dropped_and_created_again(view):
    view.lab.run("drop table t")
    view.lab.table("t", "id int, k int, x decimal(10,2)", "(1, 1, 1.5)", "(2, 7, 7)")
    view.lab.run("insert into t values (3, 8, 8)", "insert into t values (3, 8, 8)")
    view.must_be("full", Reason.SOURCE_REPLACED)
    view.lab.run("insert into t values (3, 8, 8)")
    view.must_be("incremental")


@pytest.mark.nightly
def test_column_added_to_a_star(lab):
    lab.table("t", "id int, k int", "(1, 1)")
    view = lab.view("m", "select * from t").build()
    lab.run("alter table t add columns (extra string)", "insert into t values (4, 2, 'e')")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)
    view.check_columns()


MAPPED = "tblproperties (delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name', delta.enableTypeWidening = true)"


@pytest.mark.parametrize(
    ("change", "mode", "reason"),
    few_of(
        [
            ("alter table t alter column x type bigint", "full", Reason.SOURCE_SCHEMA_CHANGED),
            ("alter table t rename column unread to other", "incremental", None),
            ("alter table t drop column unread", "incremental", None),
            (f"create or replace table t using delta {FEED} as select id, k, cast(x as string) as x from t", "full", Reason.SOURCE_SCHEMA_CHANGED),
        ],
        [("alter table t rename column unread to other", "incremental", None)],
    ),
)  # fmt: skip
def test_column_changed(lab, change, mode, reason):
    lab.table("t", "id int, k int, x int, unread int", "(1, 1, 1, 1)", "(2, 1, 2, 2)", clauses=MAPPED)
    view = lab.view("m", "select k, sum(x) as s, max(x) as m from t group by k").build()
    lab.run(change, "delete from t where id = 1")
    view.must_be(mode, reason)
    view.check_columns()


@pytest.mark.nightly
def test_column_dropped_and_added_again_under_its_name(lab):
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", clauses=MAPPED)
    view = lab.view("m", "select k, sum(x) as s from t group by k").build()
    lab.run(
        "alter table t drop column x", "alter table t add columns (x int)", "insert into t values (2, 1, 5)"
    )
    view.refresh()
    view.check()


def test_vacuum_takes_files_that_nobody_needs_any_more(view):
    view.lab.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    view.lab.run("update t set x = 9 where id = 1")
    view.must_be("incremental")
    view.lab.run("vacuum t retain 0 hours")
    assert view.must_be("no_op").explanation == "no row of a source changed"
    view.lab.run("insert into t values (4, 1, 1)")
    view.must_be("incremental")
