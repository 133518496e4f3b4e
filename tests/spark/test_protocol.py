"""The refresh protocol: one commit holds data and frontier, whatever touched the state is noticed, errors change nothing."""

from __future__ import annotations

import json

import pytest

from sparkivm.changes.frontier import STATE_FORMAT, read_frontier
from sparkivm.engine import EngineError
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh import compiled_view, decide, refresh_view
from sparkivm.refresh import rebuild as rebuild_module
from sparkivm.refresh.drop_view import drop_incremental_view
from sparkivm.refresh.pins import Pins
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.rebuild import is_mistake_of_spark
from sparkivm.refresh.request import StateLayout
from tests.spark.lab import Lab, View, refused
from tests.spark.saved_tables import SavedTables

pytestmark = pytest.mark.spark

SQL = "select k, count(*) as n, sum(x) as s from t group by k"


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    lab = Lab(spark, "protocol")
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    lab.view("m", SQL).build()
    return SavedTables(lab, tmp_path_factory.mktemp("protocol"))


@pytest.fixture
def lab(spark, saved) -> Lab:
    lab = Lab(spark, "protocol")
    saved.put_into(lab, "t")
    return lab


@pytest.fixture
def view(lab, saved) -> View:
    """A view of `t` that was built."""
    saved.put_into(lab, "m", "m__ivm")
    return lab.view("m", SQL)


def transactions(view: View) -> list[int]:
    """The transaction number of each commit of the state, oldest first."""
    location = view.lab.rows(f"describe detail {view.state}")[0]["location"]
    log = view.lab.session.read.text(f"{location}/_delta_log/*.json").collect()
    actions = [json.loads(row[0]) for row in log]
    return sorted(action["txn"]["version"] for action in actions if "txn" in action)


def test_frontier_is_in_the_commit_of_the_data(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    newest = view.history()[-1]
    assert newest["operation"] == "WRITE"
    assert int(newest["operationMetrics"]["numOutputRows"]) == 1
    frontier = read_frontier(newest["userMetadata"])
    assert {key: source.version for key, source in frontier.sources.items()} == {
        "protocol.t": lab.version("t")
    }
    assert len(view.history()) == 2


def test_no_op_runs_no_statement(lab, view):
    lab.engine.ran.clear()
    assert view.must_be("no_op").statements == ()
    assert lab.engine.ran == []
    assert len(view.history()) == 1


def test_transaction_numbers_grow_over_rebuilds(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("incremental")
    assert transactions(view) == [0, 1, 2, 3]


def test_session_settings_of_the_commit_do_not_stay(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    lab.engine.session.sql("insert into t values (5, 3, 8)")
    assert lab.rows("describe history t limit 1")[0]["userMetadata"] is None
    view.must_be("incremental")


FOREIGN = {
    "insert": "insert into m__ivm select * from m__ivm",
    "delete": "delete from m__ivm",
    "update": "update m__ivm set k = 7",
    "replaced": "create or replace table m__ivm using delta as select * from m__ivm",
}


@pytest.mark.parametrize("statement", FOREIGN.values(), ids=FOREIGN)
def test_state_that_somebody_changed(lab, view, statement):
    lab.run(statement)
    assert view.differences() or "replace" in statement
    view.must_be("full", Reason.STATE_MODIFIED)
    view.must_be("no_op")


def test_state_restored_to_an_earlier_refresh(lab, view):
    """Its frontier went back with its rows."""
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    lab.run("restore table m__ivm to version as of 0")
    view.refresh()
    view.check()


def test_maintenance_of_the_state_goes_unnoticed(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    lab.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lab.run(
        "optimize m__ivm", "vacuum m__ivm retain 0 hours", "alter table m__ivm set tblproperties (mine = 'x')"
    )
    assert view.must_be("no_op").statements == ()
    lab.run("delete from t where k = 1")
    view.must_be("incremental")


def test_auto_compaction_of_the_state_goes_unnoticed(lab, view):
    """It commits in the session of the refresh, with the metadata of the refresh."""
    compact = "spark.databricks.delta.autoCompact"
    lab.engine.set({f"{compact}.enabled": "true", f"{compact}.minNumFiles": "2"})
    for i in range(3):
        lab.run(f"insert into t values ({i}, {i}, {i})")
        view.must_be("incremental")
    assert "OPTIMIZE" in [commit["operation"] for commit in view.history()]


def test_state_that_was_dropped(lab, view):
    lab.run("drop table m__ivm", "insert into t values (4, 3, 8)")
    view.must_be("create")
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("incremental")


def test_state_that_is_no_delta_table_any_more(lab, view):
    lab.run("drop table m__ivm", "create table m__ivm using parquet as select 1 as x")
    assert "is taken by a table that dbt-sparkivm did not make" in refused(view)
    assert lab.rows("select * from m__ivm") == [(1,)]
    lab.run("drop table m__ivm")
    view.must_be("create")


def dropped(view: View) -> str:
    owner = view.request.owner
    return drop_incremental_view(view.lab.engine, view.request.view, owner.project, owner.model)


def test_table_of_somebody_by_the_name_of_the_state(lab):
    lab.run("create table own__ivm using delta as select 1 as x")
    own = lab.view("own", SQL)
    for options in ({}, {"full_refresh": True}, {"empty": True}):
        assert "own__ivm, the name of its state, is taken by a Delta table" in refused(own, **options)
    with pytest.raises(ModelError, match="there is nothing"):
        dropped(own)
    assert lab.rows("select * from own__ivm") == [(1,)]


@pytest.mark.parametrize("text", ["select k from t", "select k, 'm__ivm' as x from t"])
def test_plain_view_by_the_name_of_a_former_model(lab, view, text):
    lab.run(f"create or replace view m as {text}")
    assert "view" not in dropped(view)
    assert lab.rows("show tables like 'm__ivm'") == []
    assert len(lab.rows("select * from m")) == 3
    lab.run("drop view m")
    view.build()
    dropped(view)
    assert lab.rows("show tables like 'm*'") == []


def test_state_of_another_format(lab, view):
    metadata = view.history()[-1]["userMetadata"].replace(f'"sparkivm":{STATE_FORMAT}', '"sparkivm":999')
    lab.session.conf.set("spark.databricks.delta.commitInfo.userMetadata", metadata)
    lab.run("alter table m__ivm set tblproperties (written = 'elsewhere')")
    lab.session.conf.unset("spark.databricks.delta.commitInfo.userMetadata")
    view.must_be("full", Reason.STATE_FORMAT_CHANGED)
    view.must_be("no_op")


def test_public_view_is_replaced_only_when_its_text_changes(lab, view, monkeypatch):
    """The first of them adds entries up already, so appending some needs no other."""
    monkeypatch.setattr(decide, "MOST_APPENDS", 2)
    for i, form in enumerate(("append", "append", "rewrite", "append")):
        lab.run(f"insert into t values ({i}, {i % 3}, {i})")
        result = view.must_be("incremental")
        assert result.apply_form == form
        assert not any("create or replace view" in statement for statement in result.statements)
    changed = lab.view("m", SQL + " having sum(x) > 2")
    assert "create or replace view" in changed.must_be("full", Reason.QUERY_CHANGED).statements[-1]


def test_public_view_that_was_dropped_or_changed_comes_back(lab, view):
    lab.run("drop view m")
    view.must_be("no_op")
    lab.run("alter view m as select 1 as k, 1 as n, 1 as s")
    view.must_be("no_op")


def test_spark_makes_a_mistake_in_a_plan(lab, view, monkeypatch):
    """Then the model's own text is computed, in which it may make none."""
    select = rebuild_module._select

    def mistaken(attempt, compiled):
        text = "select cast(raise_error('[INTERNAL_ERROR] of Spark') as int) as k"
        return text if compiled.plan else select(attempt, compiled)

    with monkeypatch.context() as patch:
        patch.setattr(rebuild_module, "_select", mistaken)
        view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
        view.must_be("no_op")
        lab.run("insert into t values (4, 3, 8)")
        assert "[INTERNAL_ERROR]" in str(view.must_be("full", Reason.REFRESH_FAILED).fallback)
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("full", Reason.REFRESH_FAILED)
    lab.run("insert into t values (6, 3, 8)")
    view.must_be("incremental")


@pytest.mark.parametrize("created_again", [False, True])
def test_a_run_that_saw_older_sources_than_the_view(lab, view, created_again):
    """Another run refreshed the view in between: this one takes nothing back."""
    pins = Pins()
    view.refresh(pins)
    if created_again:
        lab.run("drop table t")
        lab.table("t", "id int, k int, x int", "(7, 7, 7)")
    lab.run("insert into t values (8, 3, 8)")
    view.refresh()
    assert view.refresh(pins).mode == "no_op"
    view.check()


def test_a_source_that_was_created_again_is_looked_at_once_in_a_run(lab, view, monkeypatch):
    """All views of the run see one version of it, whatever is written meanwhile."""
    other = lab.view("m2", SQL).build()
    lab.run("drop table t")
    lab.table("t", "id int, k int, x int", "(7, 7, 7)")
    pins = Pins()
    for number, one in enumerate((view, other)):
        assert one.refresh(pins).mode == "full"
        assert lab.rows(f"select sum(s) from {one.name}") == [(7,)]
        lab.run(f"insert into t values ({number}, 8, 1)")


def test_a_failure_of_the_cluster_is_no_mistake_of_spark():
    assert is_mistake_of_spark("[INTERNAL_ERROR] The phase optimization failed")
    assert is_mistake_of_spark("x: [INTERNAL_ERROR_ATTRIBUTE_NOT_FOUND] Could not find a#1")
    for failure in ("SHUFFLE", "NETWORK", "MEMORY", "EXECUTOR", "STORAGE", "BROADCAST"):
        assert not is_mistake_of_spark(f"[INTERNAL_ERROR_{failure}] of the cluster")


def test_public_view_that_was_left_with_the_types_of_before(lab, monkeypatch):
    lab.table("u", "k int, x int", "(1, 5)")
    view = lab.view("kept", "select k, x from u").build()
    lab.run("create or replace table u using delta as select k, x + 3000000000 as x from u")
    with monkeypatch.context() as patch:
        patch.setattr(PublicView, "create", killed)
        with pytest.raises(KeyboardInterrupt):
            view.refresh()
    view.must_be("no_op")
    assert dict(lab.session.table("kept").dtypes) == {"k": "int", "x": "bigint"}
    assert not view.refresh().statements


def killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("setting", ["spark.sql.session.timeZone", "spark.sql.ansi.enabled"])
def test_settings_that_change_the_meaning(lab, view, setting):
    others = {"UTC": "Asia/Tokyo", "true": "false", "false": "true"}
    lab.engine.set({setting: others[lab.engine.settings([setting])[setting]]})
    assert setting in str(view.must_be("full", Reason.CONFIG_CHANGED).fallback)
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")


def test_types_are_asked_for_again_under_other_settings(lab):
    lab = lab.another(ansi=False)
    lab.table("u", "k int, i int, s string", "(1, 1, '2')", "(1, null, '3')")
    view = lab.view("wide", "select k, max(coalesce(i, s)) as most from u group by k").build()
    lab.engine.set({"spark.sql.ansi.enabled": "true"})
    view.must_be("full", Reason.CONFIG_CHANGED)
    assert dict(lab.session.table("wide").dtypes) == {"k": "int", "most": "bigint"}


def test_public_view_is_read_under_the_settings_of_its_state(lab):
    lab.table("moments", "k int, at timestamp", "(1, timestamp'2024-01-01 01:00:00')")
    view = lab.view("hours", "select k, hour(max(at)) as h from moments group by k").build()
    for session in (lab.session, lab.engine.session):
        session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    view.must_be("full", Reason.CONFIG_CHANGED)
    lab.run("insert into moments values (2, timestamp'2024-01-01 01:00:00')")
    view.must_be("incremental")


def test_names_that_differ_in_case(lab):
    lab.engine.session.conf.set("spark.sql.caseSensitive", "true")
    lab.session.conf.set("spark.sql.caseSensitive", "true")
    view = lab.view("cases", "select upper(x) as X, count(*) as n from t group by X")
    view.must_be("create", Reason.SQL_NOT_UNDERSTOOD)
    lab.run("insert into t values (9, 9, 9)")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)


def test_a_setting_by_which_the_text_means_something_else(lab):
    """INTERSECT binds no tighter than UNION then."""
    setting = "spark.sql.legacy.setopsPrecedence.enabled"
    for session in (lab.session, lab.engine.session):
        session.conf.set(setting, "true")
    view = lab.view("p", "select k from t union select x from t intersect select k from t where k > 1")
    created = view.must_be("create", Reason.SQL_NOT_UNDERSTOOD)
    assert created.fallback is not None
    assert created.fallback.detail == f"{setting} is true"
    for session in (lab.session, lab.engine.session):
        session.conf.unset(setting)
    assert view.refresh().fallback is not None
    view.check()
    lab.run("insert into t values (9, 9, 9)")
    view.must_be("incremental")


def test_session_that_overwrites_single_partitions(lab):
    """INSERT OVERWRITE would leave the partitions whose rows are all gone."""
    view = lab.view(
        "p", "select k, max(x) as m from t group by k", layout=StateLayout(partition_by=("k",))
    ).build()
    lab.engine.session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    lab.run("delete from t where k = 2")
    assert view.must_be("incremental").apply_form == "rewrite"
    assert lab.engine.session.conf.get("spark.sql.sources.partitionOverwriteMode") == "dynamic"


def test_spark_fails_while_the_way_is_chosen(lab, view, monkeypatch):
    def lost(*_):
        raise EngineError("a file is gone")

    lab.run("insert into t values (4, 3, 8)")
    monkeypatch.setattr(refresh_view, "decide", lost)
    assert "a file is gone" in refused(view, refresh_mode="strict")
    view.must_be("full", Reason.REFRESH_FAILED)


def test_view_without_a_plan_that_depends_on_the_time(lab):
    view = lab.view("late", "select k, current_date() as d, parse_json('1') as v from t")
    assert [view.refresh().mode, view.refresh().mode] == ["create", "full"]


def test_settings_that_change_only_the_speed(lab, view):
    lab.engine.set({"spark.sql.shuffle.partitions": "3", "spark.sql.autoBroadcastJoinThreshold": "-1"})
    view.must_be("no_op")


def test_text_that_changes_without_changing_the_meaning(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    lab.view("m", SQL.replace("from", "-- the table\nFROM") + ";").must_be("incremental")
    lab.view("m", SQL.replace("from", "/* the table */ FROM")).must_be("no_op")


def test_query_that_changes(lab, view):
    lab.view("m", SQL.replace("sum", "max")).must_be("full", Reason.QUERY_CHANGED)


def test_strict(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental", refresh_mode="strict")
    other = lab.view("m", SQL + " having count(*) > 1")
    assert "QUERY_CHANGED" in refused(other, refresh_mode="strict")
    view.must_be("no_op")
    random = lab.view("r", "select rand() as r, k from t")
    text = refused(random, refresh_mode="strict")
    assert "NON_DETERMINISTIC_EXPRESSION" in text
    assert "line 1, column 8" in text
    assert lab.rows("show tables like 'r*'") == []


def test_full_refresh_false(lab, view):
    other = lab.view("m", SQL + " having count(*) > 1", full_refresh_allowed=False)
    assert "its config says full_refresh: false" in refused(other)
    view.must_be("no_op")


def test_mode_full(lab, view):
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, refresh_mode="full")


def test_empty(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    before = view.content()
    assert view.refresh(empty=True).mode == "no_op"
    assert view.content() == before
    new = lab.view("new", SQL)
    assert new.refresh(empty=True).mode == "create"
    assert new.content() == []
    new.check_columns()
    assert new.refresh().mode == "create"
    new.check()


def test_a_plan_that_spark_refuses_is_asked_again(lab, monkeypatch):
    def refuse(*_: object) -> None:
        raise NotIncremental(Fallback(Reason.SQL_NOT_UNDERSTOOD, "the columns are others"))

    monkeypatch.setattr(compiled_view, "check_plan_is_understood", refuse)
    view = lab.view("refused", SQL)
    view.must_be("create", Reason.SQL_NOT_UNDERSTOOD)
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)
