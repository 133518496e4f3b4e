"""Every reason that a refresh can give, and a way that leads to it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import EngineError, Field
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.model.compiled_view import CompiledView
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.result import RefreshResult
from tests.fake_engine.statements import execute
from tests.refresh.conftest import BY_K, one_table
from tests.refresh.lab import Lab, View, refused

Way = Callable[[Lab], RefreshResult | str]
WAYS: dict[tuple[Reason, str], Way] = {}

GB = 1 << 30


def leads_to(reason: Reason) -> Callable[[Way], Way]:
    """Registers a function that returns a result with this reason, or a text that names it."""

    def register(way: Way) -> Way:
        WAYS[reason, way.__name__] = way
        return way

    return register


def built(lab: Lab, sql: str = BY_K, **options: object) -> View:
    return lab.view("m", sql, **options).build()


def changed(lab: Lab, sql: str = BY_K, **options: object) -> View:
    view = built(lab, sql, **options)
    lab.run("insert into t values (4, 3, 8)")
    return view


# the state


@leads_to(Reason.STATE_MISSING)
def explained_before_the_first_build(lab):
    return lab.view("m", BY_K).explain()


@leads_to(Reason.STATE_MISSING)
def explained_after_an_empty_build(lab):
    view = lab.view("m", BY_K)
    view.refresh(empty=True)
    return view.explain()


@leads_to(Reason.STATE_MODIFIED)
def somebody_wrote_to_the_state(lab):
    view = built(lab)
    lab.run("delete from m__ivm")
    return view.refresh()


@leads_to(Reason.STATE_FORMAT_CHANGED)
def another_version_of_the_package_wrote_it(lab):
    view = built(lab)
    table = lab.delta("m__ivm")
    text = (table.newest.commit.user_metadata or "").replace('"sparkivm":', '"sparkivm":9')
    table.change(0, commit=replace(table.newest.commit, user_metadata=text))
    return view.refresh()


@leads_to(Reason.FRONTIER_MISSING)
def its_log_was_cleaned_up(lab):
    view = built(lab)
    lab.run("optimize m__ivm")
    lab.forget_commits("m__ivm", 0)
    return view.refresh()


# the query and its settings


@leads_to(Reason.QUERY_CHANGED)
def another_text(lab):
    return built(lab).refresh(sql=BY_K.replace("sum", "max"))


@leads_to(Reason.QUERY_CHANGED)
def another_text_of_a_view_that_it_reads(lab):
    lab.run("create view w as select k, x from t")
    view = built(lab, "select k, sum(x) as s from w group by k")
    lab.run("create or replace view w as select k, x + 1 as x from t")
    return view.refresh()


@leads_to(Reason.QUERY_CHANGED)
def a_view_that_it_reads_now_reads_another_table(lab):
    lab.table("u", "k int, x int", "(1, 5)")
    lab.run("create view w as select k, x from t")
    view = built(lab, "select k, sum(x) as s from w group by k")
    lab.run("create or replace view w as select k, x from u")
    return view.refresh()


@leads_to(Reason.CONFIG_CHANGED)
def another_time_zone(lab):
    view = built(lab)
    lab.engine.set({"spark.sql.session.timeZone": "Asia/Tokyo"})
    return view.refresh()


@leads_to(Reason.CONFIG_CHANGED)
def ansi_mode(lab):
    view = changed(lab)
    lab.engine.set({"spark.sql.ansi.enabled": "true"})
    return view.refresh()


@leads_to(Reason.CONFIG_CHANGED)
def another_type_of_histograms(lab):
    view = changed(lab)
    lab.engine.set({"spark.sql.legacy.histogramNumericPropagateInputType": "false"})
    return view.refresh()


@leads_to(Reason.CONFIG_CHANGED)
def a_setting_that_was_at_its_default(lab):
    view = built(lab)
    lab.engine.set({"spark.sql.legacy.sizeOfNull": "true"})
    return view.refresh()


@leads_to(Reason.CONFIG_CHANGED)
def auxiliary_views_are_not_wanted_any_more(lab):
    view = built(
        lab,
        "select n, count(*) as c from (select k, count(*) as n from t group by k) group by n",
        auxiliary_views="always",
    )
    lab.run("insert into t values (4, 3, 8)")
    return view.refresh(auxiliary_views="never")


# the sources


@leads_to(Reason.SOURCE_REPLACED)
def dropped_and_created_again(lab):
    view = built(lab)
    lab.run("drop table t")
    lab.table("t", "id int, k int, x int", "(7, 7, 7)", "(8, 8, 8)")
    return view.refresh()


@leads_to(Reason.SOURCE_SCHEMA_CHANGED)
def another_type(lab):
    view = built(lab)
    lab.run("alter table t alter column x type bigint")
    return view.refresh()


@leads_to(Reason.SOURCE_SCHEMA_CHANGED)
def a_column_for_a_star(lab):
    view = built(lab, "select * from t")
    lab.run("alter table t add columns (y int)")
    return view.refresh()


@leads_to(Reason.SOURCE_NOT_SUPPORTED)
def a_temporary_view(lab):
    execute(lab.engine.session, "create temporary view w as select k, x from t")
    execute(lab.session, "create temporary view w as select k, x from t")
    view = lab.view("m", "select k, x from w")
    view.refresh()
    return view.refresh()


@leads_to(Reason.SOURCE_NOT_SUPPORTED)
def a_table_that_is_to_have_no_mirror(lab):
    lab.run("create table p using parquet as select 1 as k")
    declared = DeclaredSources("shop", {"shop.p": {"mirror": False}})
    return lab.view("m", "select k from p", declared=declared).must_be("create", Reason.SOURCE_NOT_SUPPORTED)


@leads_to(Reason.SOURCE_NOT_SUPPORTED)
def a_path(lab):
    lab.run("create table p using parquet as select 1 as k")
    lab.lake.relations["parquet./data/p"] = lab.lake.relations["shop.p"]
    return lab.view("m", "select k from parquet.`/data/p`").refresh()


@leads_to(Reason.HISTORY_UNAVAILABLE)
def a_gap_in_the_log(lab):
    view = changed(lab)
    lab.run("insert into t values (5, 3, 8)")
    lab.forget_commits("t", 2)
    return view.refresh()


@leads_to(Reason.CHANGE_CAPTURE_OFF)
def a_source_that_may_not_be_altered(lab):
    lab.run("create table p (k int) using delta")
    view = built(lab, "select k from p", change_capture="never_alter")
    lab.run("insert into p values (1)")
    return view.refresh()


# what has no delta rule


@leads_to(Reason.NON_DETERMINISTIC_EXPRESSION)
def a_random_number(lab):
    return lab.view("m", "select k, rand() as r from t").refresh()


@leads_to(Reason.OPERATOR_NOT_SUPPORTED)
def a_sample(lab):
    return lab.view("m", "select k from t tablesample (100 percent)").refresh()


@leads_to(Reason.EXPRESSION_NOT_SUPPORTED)
def a_function_that_is_not_known(lab):
    lab.lake.database.connection.execute("create or replace macro own_function(a) as a + 1")
    return lab.view("m", "select own_function(x) as y from t").refresh()


@leads_to(Reason.SOURCE_SCHEMA_CHANGED)
def a_char_of_another_length(lab):
    """The state would pad new values by the old length."""
    table = lab.delta("t")
    lab.run("alter table t add columns (name string)")
    fields = table.newest.fields
    table.change(table.newest.number, fields=(*fields[:-1], replace(fields[-1], char_length=5)))
    view = built(lab, "select id, name from t")
    lab.run("insert into t select 9, 9, 9, 'xy'")
    table.change(table.newest.number, fields=fields)
    return view.refresh()


@leads_to(Reason.TYPE_NOT_SUPPORTED)
def a_map_as_a_group_key(lab):
    lab.table("p", "m map<string, int>, x int")
    return lab.view("m", "select m, max(x) as x from p group by m").must_be(
        "create", Reason.TYPE_NOT_SUPPORTED
    )


@leads_to(Reason.TYPE_NOT_SUPPORTED)
def a_variant(lab):
    lab.table("p", "v variant, x int")
    return lab.view("m", "select v, x from p").must_be("create", Reason.TYPE_NOT_SUPPORTED)


@leads_to(Reason.TYPE_NOT_SUPPORTED)
def a_variant_that_only_a_filter_reads(lab):
    lab.table("p", "v variant, x int")
    return lab.view("m", "select x from p where v is not null").must_be("create", Reason.TYPE_NOT_SUPPORTED)


@leads_to(Reason.TYPE_NOT_SUPPORTED)
def a_text_under_a_collation(lab):
    """Under a collation, different texts can be equal."""
    lab.table("p", "s string, x int")
    lab.delta("p").change(0, fields=(Field("s", "string collate UTF8_LCASE"), Field("x", "int")))
    return lab.view("m", "select s, max(x) as x from p group by s").refresh()


@leads_to(Reason.TYPE_NOT_SUPPORTED)
def an_interval(lab):
    return lab.view("m", "select k, interval 1 day as i from t").refresh()


@leads_to(Reason.SQL_NOT_UNDERSTOOD)
def another_plan_of_the_text(lab):
    lab.engine.reads_as["select k from t"] = "Project [k#1]"
    return lab.view("m", "select k from t").must_be("create", Reason.SQL_NOT_UNDERSTOOD)


@leads_to(Reason.SQL_NOT_UNDERSTOOD)
def other_columns_of_the_plan(lab):
    columns = (Field("k", "int"), Field("n", "bigint"), Field("s", "string"))
    lab.engine.shows["as bigint) as `s`"] = columns
    return lab.view("m", BY_K).must_be("create", Reason.SQL_NOT_UNDERSTOOD)


@leads_to(Reason.SQL_NOT_UNDERSTOOD)
def a_setting_by_which_the_text_means_something_else(lab):
    lab.engine.set({"spark.sql.legacy.setopsPrecedence.enabled": "true"})
    return lab.view("m", "select k from t").must_be("create", Reason.SQL_NOT_UNDERSTOOD)


@leads_to(Reason.SQL_NOT_UNDERSTOOD)
def names_that_differ_in_case(lab):
    lab.engine.set({"spark.sql.caseSensitive": "true"})
    return lab.view("m", "select k from t").must_be("create", Reason.SQL_NOT_UNDERSTOOD)


# costs and failures


@leads_to(Reason.CHANGE_TOO_LARGE)
def most_rows_of_a_large_source_changed(lab):
    view = built(lab, refresh_mode="auto")
    lab.resize("t", 100 << 20)
    lab.run("insert into t values (4, 3, 8)")
    lab.says("t", numOutputRows=5_000_000)
    return view.refresh()


@leads_to(Reason.CHEAPER_IN_FULL)
def a_large_state_that_has_to_be_merged(lab):
    lab.resize("t", 50 << 20)
    lab.resize("m__ivm", 5 * GB)
    sql = "select cast(k as decimal(5,0)) as k, max(x) as m from t group by cast(k as decimal(5,0))"
    view = built(lab, sql, refresh_mode="auto")
    lab.run("insert into t values (4, 3, 8)")
    return view.refresh()


@leads_to(Reason.NUMERIC_OVERFLOW)
def a_sum_that_is_too_large(lab):
    view = lab.view("m", "select k, sum(cast(x as decimal(38,0))) as s from t group by k")
    lab.engine.fails("create or replace table", "[USER_RAISED_EXCEPTION] a sum overflows its type")
    return view.refresh()


@leads_to(Reason.NUMERIC_OVERFLOW)
def a_sum_that_was_too_large_once(lab):
    """The next change is tried as a plan again."""
    view = lab.view("m", BY_K)
    lab.engine.fails("create or replace table", "[USER_RAISED_EXCEPTION] a sum overflows its type")
    view.must_be("create", Reason.NUMERIC_OVERFLOW)
    view.must_be("no_op")
    lab.run("insert into t values (4, 3, 8)")
    result = view.must_be("full", Reason.NUMERIC_OVERFLOW)
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("incremental")
    return result


@leads_to(Reason.NUMERIC_OVERFLOW)
def a_sum_that_is_too_large_in_a_rebuild(lab):
    """That is why each refresh computes the text, whatever the rebuild was for."""
    view = built(lab)
    lab.run("delete from m__ivm where k = 1")
    lab.engine.fails("create or replace table", "[USER_RAISED_EXCEPTION] a sum overflows its type")
    return view.must_be("full", Reason.NUMERIC_OVERFLOW)


@leads_to(Reason.REFRESH_FAILED)
def spark_fails_the_statement(lab):
    view = changed(lab)
    lab.engine.fails("insert into", "[FAILED_READ_FILE] gone")
    return view.refresh()


@leads_to(Reason.REFRESH_FAILED)
def spark_fails_a_question(lab):
    lab.resize("t", 100 << 20)
    view = built(lab)
    lab.run("update t set x = x + 1 where k = 1")
    lab.engine.refuses["as texts"] = _gone()
    result = view.refresh()
    lab.engine.refuses.clear()
    return result


@leads_to(Reason.REFRESH_FAILED)
def spark_makes_a_mistake_in_the_plan(lab):
    """Then we run the model's own text, in which Spark may not make the mistake."""
    view = changed(lab)
    lab.engine.fails("insert into", "[INTERNAL_ERROR] in a plan")
    lab.engine.fails("create or replace table", "[INTERNAL_ERROR] in a plan")
    result = view.must_be("full", Reason.REFRESH_FAILED)
    assert BY_K.split(" from ")[0] in result.statements[-2]
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("full", Reason.REFRESH_FAILED)
    lab.run("insert into t values (6, 3, 8)")
    view.must_be("incremental")
    return result


@leads_to(Reason.REFRESH_CONFLICT)
def another_driver_is_faster_each_time(lab):
    view = changed(lab)
    lab.engine.fails("insert into", "[DELTA_CONCURRENT_APPEND] others", times=4)
    return refused(view)


@leads_to(Reason.FULL_REFRESH_REQUESTED)
def asked_for(lab):
    return built(lab).refresh(full_refresh=True)


@leads_to(Reason.FULL_REFRESH_REQUESTED)
def asked_for_by_the_mode(lab):
    return built(lab).refresh(refresh_mode="full")


def _gone():
    return EngineError("[FAILED_READ_FILE] gone", "FAILED_READ_FILE")


@pytest.mark.parametrize(("reason", "name"), WAYS, ids=[f"{reason.name}-{name}" for reason, name in WAYS])
def test_a_way_leads_to_its_reason(reason, name):
    lab = one_table()
    found = WAYS[reason, name](lab)
    if isinstance(found, str):
        assert reason.name in found
        return
    assert found.fallback is not None
    assert found.fallback.reason is reason, found.fallback
    assert found.mode in ("full", "create")


def test_each_reason_has_a_way():
    assert {reason for reason, _ in WAYS} == set(Reason)


def test_a_failure_of_the_cluster_is_no_mistake_of_spark():
    """It would also fail the model's own text, so it is reported as it is."""
    for failure in ("SHUFFLE", "NETWORK", "MEMORY", "EXECUTOR", "STORAGE", "BROADCAST"):
        lab = one_table()
        lab.engine.fails("create or replace table", f"[INTERNAL_ERROR_{failure}] of the cluster")
        assert f"INTERNAL_ERROR_{failure}" in refused(lab.view("m", BY_K))
        assert not lab.has("m__ivm")


def test_a_view_of_spark_3_that_has_no_value_for_ansi(lab):
    """Spark 4 reads it without ANSI, whatever the session's value is."""
    lab.run("create view w as select k, x from t")
    name = TableName("shop", "w").key
    lab.lake.relations[name] = replace(lab.lake.relations[name], settings={})
    fallback = lab.view("m", "select k, sum(x) as s from w group by k").refresh().fallback
    assert fallback.reason is Reason.SQL_NOT_UNDERSTOOD
    assert "no value of spark.sql.ansi.enabled" in fallback.detail


def test_settings_that_change_only_the_speed(lab, view):
    lab.engine.set({"spark.sql.shuffle.partitions": "3", "spark.sql.autoBroadcastJoinThreshold": "-1"})
    view.must_be("no_op")


def test_a_text_that_changes_without_changing_the_meaning(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.with_(sql=BY_K.replace("from", "-- the table\nFROM") + ";").must_be("incremental")
    view.with_(sql=BY_K.replace("from", "/* the table */ FROM")).must_be("no_op")


def test_a_plan_that_spark_refuses_is_asked_again(lab):
    """A later version of the source may be accepted."""
    view = lab.view("v", BY_K)
    lab.engine.reads_as[BY_K] = "Project [k#1]"
    view.must_be("create", Reason.SQL_NOT_UNDERSTOOD)
    view.must_be("no_op")
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)
    lab.engine.reads_as.clear()
    lab.run("insert into t values (5, 3, 8)")
    view.must_be("full", Reason.QUERY_CHANGED)
    lab.run("insert into t values (6, 3, 8)")
    view.must_be("incremental")


def test_a_full_refresh_asks_spark_again(lab, view):
    """After an upgrade Spark may read the same text differently."""
    lab.engine.reads_as[BY_K] = "Project [k#1]"
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    assert view.explain().startswith("shop.m\n\nnot incremental\n  what   SQL_NOT_UNDERSTOOD")


def test_a_plan_that_another_version_of_us_made(lab, monkeypatch):
    """Spark has to confirm how we read the same text now."""
    with monkeypatch.context() as of_former_version:
        of_former_version.setattr(CompiledView, "plan_hash", "another")
        view = lab.view("m", BY_K).build()
    lab.engine.reads_as[BY_K] = "Project [k#1]"
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)


@pytest.mark.parametrize("mode", ["auto", "incremental", "strict"])
def test_only_auto_rebuilds_for_cost(mode):
    lab = one_table()
    lab.resize("t", 100 << 20)
    view = built(lab, refresh_mode=mode)
    lab.run("insert into t values (4, 3, 8)")
    lab.says("t", numOutputRows=5_000_000)
    assert view.refresh().mode == ("full" if mode == "auto" else "incremental")


@pytest.mark.parametrize(
    ("size", "rows", "mode"),
    [(100 << 20, 1000, "incremental"), (1 << 20, 5_000_000, "incremental"), (100 << 20, 5_000_000, "full")],
    ids=["few rows", "a small source", "many rows of a large one"],
)
def test_when_a_change_is_too_large(size, rows, mode):
    lab = one_table()
    lab.resize("t", size)
    view = built(lab, refresh_mode="auto")
    lab.run("insert into t values (4, 3, 8)")
    lab.says("t", numOutputRows=rows)
    assert view.refresh().mode == mode


def test_both_costs_are_told(lab):
    lab.resize("t", 100 << 20)
    view = changed(lab, refresh_mode="auto")
    text = view.must_be("incremental").explanation
    assert re.fullmatch(r"1 changed rows, estimated \d+\.\d s from changes, \d+\.\d s in full", text)


def test_a_query_that_is_nested_too_deeply_to_be_printed(lab, monkeypatch):
    def check(*_):
        raise RecursionError

    monkeypatch.setattr("sparkivm.refresh.model.compiled_view.check_text_is_understood", check)
    lab.view("m", BY_K).must_be("create", Reason.SQL_NOT_UNDERSTOOD)


@pytest.mark.parametrize("before", [True, False])
def test_a_constant_that_the_layout_starts_or_stops_to_name(before):
    """The plan then has a column more or less, about whose type it asks Spark."""
    lab = Lab()
    lab.table("t", "id int, k int, d date", "(1, 1, date '2024-01-01')")
    sql = "select 'eu' as region, k, d + interval 1 day as e from t"
    by_region = StateLayout(partition_by=("region",))
    layouts = (by_region, StateLayout()) if before else (StateLayout(), by_region)
    lab.view("m", sql, layout=layouts[0]).build()
    lab.run("insert into t values (2, 2, date '2024-01-02')")
    view = lab.view("m", sql, layout=layouts[1])
    view.refresh()
    view.check()
    assert lab.rows(view.consistency_sql()) == []
    assert view.refresh(full_refresh=True).mode == "full"


def test_a_rebuild_for_cost_says_both_costs(lab):
    lab.resize("m__ivm", 5 * GB)
    sql = "select cast(k as decimal(5,0)) as k, max(x) as m from t group by cast(k as decimal(5,0))"
    view = built(lab, sql, refresh_mode="auto")
    lab.resize("t", 50 << 20)
    lab.run("insert into t values (4, 3, 8)")
    result = view.must_be("full", Reason.CHEAPER_IN_FULL)
    assert re.fullmatch(r"estimated \d+\.\d s from changes, \d+\.\d s in full", result.fallback.detail)


def test_a_known_text_is_not_compared_again(lab, view):
    """Spark has answered for this text and these columns before."""
    lab.engine.reads_as[BY_K] = "Project [k#1]"
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")


def test_a_refused_view_whose_own_text_fails(lab):
    """There is no other text to compute."""
    lab.engine.fails("create or replace table", "[INTERNAL_ERROR] in the text")
    assert "[INTERNAL_ERROR] in the text" in refused(lab.view("m", "select k, rand() as r from t"))


def test_a_group_key_that_spark_cannot_join_by(lab):
    """Only the groups whose aggregates do not add up are joined by their keys."""
    lab.engine.shows["as state"] = (Field("k", "map<string,int>"), Field("m", "int"))
    view = lab.view("m", "select k, max(x) as m from t group by k")
    fallback = view.must_be("create", Reason.TYPE_NOT_SUPPORTED).fallback
    assert "the group key k has type map<string,int>" in fallback.detail
