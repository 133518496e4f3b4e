"""The parts of the refresh protocol that only Spark and Delta can show; tests/refresh tests its decisions."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sparkivm.changes.frontier import read_frontier
from sparkivm.engine import EngineError
from sparkivm.reasons import Reason
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.request import StateLayout
from tests.spark.lab import FEED, Lab, View

pytestmark = pytest.mark.spark

SQL = "select k, count(*) as n, sum(x) as s from t group by k"


@pytest.fixture
def lab(spark):
    lab = Lab(spark, "protocol")
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    yield lab
    lab.run("drop schema protocol cascade")


@pytest.fixture(scope="module")
def view(spark) -> Iterator[View]:
    """A view shared by all tests that leave it as it was."""
    lab = Lab(spark, "protocol_shared")
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    yield lab.view("m", SQL).build()
    lab.run("drop schema protocol_shared cascade")


def transactions(view: View) -> list[int]:
    """The transaction number of each commit of the state, oldest first."""
    location = view.lab.rows(f"describe detail {view.state}")[0]["location"]
    log = view.lab.session.read.text(f"{location}/_delta_log/*.json").collect()
    actions = [json.loads(row[0]) for row in log]
    return sorted(action["txn"]["version"] for action in actions if "txn" in action)


def test_what_delta_keeps_of_a_refresh(view):
    """One commit has frontier and data; numbers grow over rebuilds; the session's next commit has no tag."""
    lab = view.lab
    for options in ({}, {"full_refresh": True}, {}):
        lab.engine.session.sql("insert into t values (4, 3, 8)")
        assert lab.rows("describe history t limit 1")[0]["userMetadata"] is None
        view.refresh(**options)
        view.check()
        newest = view.history()[-1]
        assert int(newest["operationMetrics"]["numOutputRows"]) >= 1
        frontier = read_frontier(newest["userMetadata"])
        assert frontier is not None
        assert {k: s.version for k, s in frontier.sources.items()} == {"protocol_shared.t": lab.version("t")}
    assert transactions(view) == [0, 1, 2, 3]


def test_maintenance_of_the_state_goes_unnoticed(view):
    lab = view.lab
    for i in range(3):
        lab.run(f"insert into t values ({i}, {i}, {i})")
        view.must_be("incremental")
    lab.session.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    lab.run(
        "optimize m__ivm", "vacuum m__ivm retain 0 hours", "alter table m__ivm set tblproperties (mine = 'x')"
    )
    assert view.must_be("no_op").statements == ()
    lab.run("delete from t where k = 1")
    view.must_be("incremental")


@pytest.mark.nightly
def test_auto_compaction_of_the_state_goes_unnoticed(view):
    """It commits in the refresh's session, with the refresh's metadata."""
    lab, compact = view.lab, "spark.databricks.delta.autoCompact"
    settings = {f"{compact}.enabled": "true", f"{compact}.minNumFiles": "2"}
    lab.engine.set(settings)
    before = len(view.history())
    for i in range(5):
        lab.run(f"insert into t values ({i}, {i}, {i})")
        view.must_be("incremental")
    lab.engine.unset(tuple(settings))
    assert "OPTIMIZE" in [commit["operation"] for commit in view.history()[before:]]


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


def killed(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.nightly
def test_types_are_asked_for_again_under_other_settings(lab):
    lab = lab.another(ansi=False)
    lab.table("u", "k int, i int, s string", "(1, 1, '2')", "(1, null, '3')")
    view = lab.view("wide", "select k, max(coalesce(i, s)) as most from u group by k").build()
    lab.engine.set({"spark.sql.ansi.enabled": "true"})
    view.must_be("full", Reason.CONFIG_CHANGED)
    assert dict(lab.session.table("wide").dtypes) == {"k": "int", "most": "bigint"}


@pytest.mark.nightly
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


@pytest.mark.nightly
def test_a_setting_by_which_the_text_means_something_else(lab):
    """With this setting, INTERSECT does not bind tighter than UNION."""
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


@pytest.mark.nightly
def test_session_that_overwrites_single_partitions(lab):
    """There, INSERT OVERWRITE would keep partitions whose rows are all gone."""
    view = lab.view(
        "p", "select k, max(x) as m from t group by k", layout=StateLayout(partition_by=("k",))
    ).build()
    lab.engine.session.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    lab.run("delete from t where k = 2")
    assert view.must_be("incremental").apply_form == "rewrite"
    assert lab.engine.session.conf.get("spark.sql.sources.partitionOverwriteMode") == "dynamic"


def test_an_empty_text_in_a_partition_column(lab):
    """Delta would store it as NULL."""
    lab.run(
        "create table p (k string, x int) using delta partitioned by (k)", "insert into p values ('', 1)",
        "drop table if exists texts", f"create table texts (k string, x int) using delta {FEED}",
        "insert into texts values ('a', 1), (null, 2)",
    )  # fmt: skip
    assert [row["k"] for row in lab.rows("select k from p")] == [None]
    layout = StateLayout(partition_by=("label",))
    sql = "select k as label, count(*) as n, {} from texts group by k"
    views = [
        lab.view(f"by_text_{i}", sql.format(more), layout=layout).build()
        for i, more in enumerate(("sum(x) as s", "max(x) as m"))
    ]
    lab.run("insert into texts values ('b', 3)")
    for view in views:
        view.must_be("incremental")
    lab.run("insert into texts values ('', 4)")
    for view in views:
        before = view.content()
        with pytest.raises(EngineError, match="partitioned by k"):
            view.refresh()
        assert view.content() == before
    lab.run("delete from texts where k = ''")
    for view in views:
        view.must_be("incremental")


@pytest.mark.nightly
@pytest.mark.parametrize("default", ["columnMapping.mode=name", "enableChangeDataFeed=true"])
def test_defaults_of_the_session_for_new_tables(lab, default):
    name, value = f"spark.databricks.delta.properties.defaults.{default}".split("=")
    lab.engine.session.conf.set(name, value)
    try:
        for i, column in enumerate(("n", "`order id`")):
            view = lab.view(f"by_default_{i}", f"select k, count(*) as {column} from t group by k").build()
            lab.run("insert into t values (77, 7, 7)")
            view.must_be("incremental")
            assert view.refresh(full_refresh=True).mode == "full"
            lab.run("delete from t where id = 77")
            view.must_be("incremental")
    finally:
        lab.engine.session.conf.unset(name)


@pytest.mark.nightly
def test_empty(lab):
    new = lab.view("new", SQL)
    assert new.refresh(empty=True).mode == "create"
    assert new.content() == []
    new.check_columns()
    assert new.refresh().mode == "create"
    new.check()
