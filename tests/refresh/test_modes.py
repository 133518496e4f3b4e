"""What a request controls: modes, strict, full_refresh: false, --full-refresh, --empty."""

from __future__ import annotations

import re

import pytest

from sparkivm.engine import RelationFacts
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.model.state_layout import check_catalog
from sparkivm.refresh.request import StateLayout
from tests.refresh.conftest import BY_K
from tests.refresh.lab import refused


def test_create(lab):
    view = lab.view("m", BY_K)
    result = view.must_be("create")
    assert (result.apply_form, result.rows_inserted) == ("create", 2)
    assert 0 < result.compile_s < 60
    assert [(s.name, s.from_version, s.to_version) for s in result.sources] == [("shop.t", None, 1)]


def test_strict_creates_and_refreshes_and_refuses_the_rest(lab):
    view = lab.view("m", BY_K, refresh_mode="strict").build()
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    before = view.content(), view.operations()
    other = view.with_(sql=BY_K.replace("group by", "where x > 1 group by"))
    assert "QUERY_CHANGED" in refused(other)
    assert (view.content(), view.operations()) == before
    view.must_be("no_op")


def test_strict_says_that_the_rebuild_has_to_be_asked_for(lab):
    view = lab.view("m", BY_K, refresh_mode="strict").build()
    for sql in (BY_K.replace("sum", "max"), "select rand() as r from t"):
        asks = "do     run it once with --full-refresh; the view is rebuilt once" in refused(view, sql=sql)
        assert asks is ("rand" not in sql)
    lab.engine.set({"spark.sql.session.timeZone": "Asia/Tokyo"})
    assert "run it once with --full-refresh if the change was intended" in refused(view)
    lab.run("delete from m__ivm")
    assert "never to its state; run it once with --full-refresh" in refused(view)


def test_strict_takes_a_full_refresh_that_is_asked_for(lab):
    view = lab.view("m", BY_K, refresh_mode="strict").build()
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)


@pytest.mark.parametrize("options", [{}, {"full_refresh": True}], ids=["first", "asked for"])
def test_strict_never_builds_what_cannot_be_incremental(lab, options):
    view = lab.view("r", "select rand() as r, k from t", refresh_mode="strict")
    text = refused(view, **options)
    assert "NON_DETERMINISTIC_EXPRESSION" in text
    assert "line 1, column 8" in text
    assert lab.names() == ["t"]


def test_strict_does_not_rebuild_for_cost(lab):
    view = lab.view("m", BY_K, refresh_mode="strict").build()
    lab.resize("t", 100 << 20)
    lab.run("insert into t values (4, 3, 8)")
    lab.says("t", numOutputRows=100_000_000)
    view.must_be("incremental")


def test_strict_says_so_where_spark_fails(lab):
    view = lab.view("m", BY_K, refresh_mode="strict").build()
    before = view.content()
    lab.run("insert into t values (4, 3, 8)")
    lab.engine.fails("insert into", "[FAILED_READ_FILE] a file is gone")
    assert "the refresh from changes failed" in refused(view)
    assert view.content() == before
    view.must_be("incremental")


def test_a_config_that_forbids_full_refreshes(lab, view):
    before = view.content()
    other = view.with_(sql=BY_K.replace("group by", "where x > 1 group by"), full_refresh_allowed=False)
    assert "its config says full_refresh: false" in refused(other)
    assert view.content() == before
    view.must_be("no_op", full_refresh_allowed=False)
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental", full_refresh_allowed=False)
    lab.view("new", BY_K, full_refresh_allowed=False).must_be("create")


def test_a_config_that_forbids_full_refreshes_forbids_those_that_save_time(lab, view):
    lab.resize("t", 100 << 20)
    for _ in range(2):
        lab.run("insert into t values (4, 3, 8)")
        lab.says("t", numOutputRows=5_000_000)
        view.must_be("incremental", refresh_mode="auto", full_refresh_allowed=False)
    lab.run("insert into t values (4, 3, 8)")
    lab.says("t", numOutputRows=5_000_000)
    view.must_be("full", Reason.CHANGE_TOO_LARGE, refresh_mode="auto")


def test_a_full_refresh_replaces_state_and_public_view(lab, view):
    result = view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    assert result.apply_form == "rebuild"
    assert [text.split("\n")[0] for text in result.statements] == [
        "create or replace table `shop`.`m__ivm`",
        "create or replace view `shop`.`m`",
    ]


def test_mode_full_is_full_each_time(lab, view):
    for _ in range(2):
        view.must_be("full", Reason.FULL_REFRESH_REQUESTED, refresh_mode="full")
    lab.view("new", BY_K, refresh_mode="full").must_be("create")


def test_empty_never_touches_a_view_that_is_there(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    before = view.content(), view.operations()
    assert view.refresh(empty=True).mode == "no_op"
    assert (view.content(), view.operations()) == before


def test_empty_builds_a_missing_view_without_rows(lab):
    view = lab.view("m", BY_K)
    assert view.refresh(empty=True).mode == "create"
    assert view.content() == []
    assert view.refresh(empty=True).mode == "no_op"
    view.must_be("create")
    view.must_be("no_op")


@pytest.mark.parametrize("setting", ["ignoreMissingFiles", "ignoreCorruptFiles"])
def test_settings_that_lose_rows_are_refused(lab, view, setting):
    lab.engine.set({f"spark.sql.files.{setting}": "true"})
    assert f"spark.sql.files.{setting} is true" in refused(view)
    lab.engine.set({f"spark.sql.files.{setting}": "false"})
    view.must_be("no_op")


BAD_MODELS = {
    "two of a name": ("select k, x as k from t", "two output columns are named k"),
    "a hidden name": ("select k as __ivm_k from t", "has a reserved name"),
    "no such table": ("select k from nothing", "Spark refuses the model's SQL|there is no table or view"),
    "no such column": ("select nothing from t", "Spark refuses the model's SQL"),
    "itself": ("select k from m", "the model reads itself"),
    "its state": ("select k from m__ivm", "the model reads itself"),
    "no query": ("delete from t", "which is not a SELECT"),
    "nothing": ("-- a comment", "the model has no SELECT"),
    "two statements": ("select k from t; select x from t", "2 statements|Spark refuses"),
}


@pytest.mark.parametrize("name", BAD_MODELS)
def test_a_bad_model_changes_nothing(lab, view, name):
    sql, message = BAD_MODELS[name]
    before = view.content(), view.operations(), lab.version("t"), lab.names()
    lab.engine.ran.clear()
    assert re.search(message, refused(view.with_(sql=sql)))
    assert lab.engine.ran == []
    assert (view.content(), view.operations(), lab.version("t"), lab.names()) == before


def test_empty_never_touches_a_view_whose_state_is_to_move(lab, view):
    before = view.content()
    moved = view.with_(layout=StateLayout(catalog="states"))
    result = moved.refresh(empty=True)
    assert (result.mode, result.statements) == ("no_op", ())
    assert view.content() == before


def test_a_view_that_stores_its_rows_is_built_by_its_own_text(lab):
    """At the version that the frontier names; the plan has the same rows, but other texts."""
    result = lab.view("v", "select id, upper('a') as a from t where x > 1").must_be("create")
    (text,) = (one for one in result.statements if "create or replace table" in one)
    assert "select id, upper('a') as a from `shop`.`t` version as of 1 where x > 1" in text


def test_a_window_is_built_by_its_plan(lab):
    """The plan breaks ties in the order of all columns, as each refresh does."""
    sql = "select id, row_number() over (partition by k order by k) as r from t"
    result = lab.view("v", sql).refresh()
    (text,) = (one for one in result.statements if "create or replace table" in one)
    assert "order by k)" not in text
    assert re.search(r"order by [^)]*`?k`? asc nulls first, [^)]*id", text)


def test_a_catalog_that_cannot_have_iceberg_tables(lab):
    view = lab.view("m", BY_K, layout=StateLayout(file_format="iceberg"))
    setting = "spark.sql.catalog.spark_catalog"
    for catalog in ("", "org.apache.spark.sql.delta.catalog.DeltaCatalog"):
        lab.engine.set({setting: catalog})
        assert "the catalog spark_catalog cannot have Iceberg tables" in refused(view)
    state = RelationFacts(TableName("shop", "m__ivm"), "iceberg", ())
    check_catalog(lab.engine, view.request, state)  # it is there, so its catalog can have it
    lab.engine.set({setting: "org.apache.iceberg.spark.SparkSessionCatalog"})
    assert "cannot have Iceberg tables" not in refused(view)  # the fake engine has none, for other reasons
