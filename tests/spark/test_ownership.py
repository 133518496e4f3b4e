"""Relations of others are never touched, even under a name that a view needs, with or without a marker."""

from __future__ import annotations

import itertools

import pytest

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.marker import read_marker
from sparkivm.names import TableName
from sparkivm.refresh.operations.leftovers import drop_leftovers, leftovers
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.stored.drop_view import drop_incremental_view
from tests.nightly import few_of
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View, refused

pytestmark = pytest.mark.spark

GROUPS = "select k, count(*) as n, max(x) as most from {schema}.t group by k"
INNER = "select n, count(*) as groups from (select k, count(*) as n from {schema}.t group by k) group by n"


@pytest.fixture(scope="module")
def lab(spark):
    lab = Lab(spark, "ownership")
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    yield lab
    lab.run("drop schema ownership cascade")


def view(lab: Lab, name: str, sql: str = GROUPS, **options) -> View:
    return lab.view(name, sql.format(schema=lab.schema), **options)


def names(lab: Lab, prefix: str) -> set[str]:
    return {row["tableName"] for row in lab.rows(f"show tables like '{prefix}*'")}


def drop(one: View) -> str:
    owner = one.request.owner
    return drop_incremental_view(one.lab.engine, one.request.view, owner.project, owner.model)


def test_names_that_spark_hides_in_properties(spark):
    """By SQL, a property with `url` in it is shown as `(redacted)`, and `hourly` has `url` in it."""
    lab = Lab(spark, "hourly_tokens")
    lab.engine = PlainEngine(spark, by_sql=True)
    lab.engine.session.sql(f"use {lab.schema}")
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    one = view(lab, "hourly_sales", INNER, auxiliary_views="always").build()
    lab.run("insert into t values (4, 1, 1)")
    one.must_be("incremental")
    one.must_be("no_op")
    lab.run("drop view hourly_sales")
    one.refresh()
    one.check()
    drop(one)
    assert names(lab, "hourly") == set()
    lab.run("drop schema hourly_tokens cascade")


THEIRS = {
    "delta": "create table {name} using delta as select 7 as mine",
    "parquet": "create table {name} using parquet as select 7 as mine",
    "view": "create view {name} as select 7 as mine",
}


@pytest.mark.parametrize(
    ("kind", "suffix"),
    few_of(itertools.product(THEIRS, ("", "__ivm")), [("view", ""), ("delta", "__ivm")]),
)
def test_somebody_elses_relation_is_in_the_way(lab, kind, suffix):
    name = f"theirs{suffix}"
    lab.run(THEIRS[kind].format(name=name))
    one = view(lab, "theirs")
    for options in ({}, {"full_refresh": True}, {"empty": True}, {"refresh_mode": "strict"}):
        message = refused(one, **options)
        assert f"ownership.{name}, the name of its" in message
        assert "that dbt-sparkivm did not create" in message
    with pytest.raises(ModelError, match="has no table or view"):
        drop(one)
    assert lab.rows(f"select * from {name}") == [(7,)]
    assert names(lab, "theirs") == {name}
    lab.run(f"drop {'view' if kind == 'view' else 'table'} {name}")


@pytest.mark.parametrize("kind", few_of(THEIRS, ["delta"]))
def test_what_the_model_was_before_is_kept(lab, kind, monkeypatch):
    """It is put aside under a free name. A failure brings it back; after a kill, the next run completes the work."""
    lab.run(
        THEIRS[kind].format(name="former"), "create table former__ivm_replaced using parquet as select 8 as x"
    )
    one = view(lab, "former", takes_over=True)

    with monkeypatch.context() as patched:
        patched.setattr(lab.engine, "render", _without_public_view(lab.engine.render))
        with pytest.raises(EngineError):
            one.refresh()
    assert lab.rows("select * from former") == [(7,)]
    assert not any("sparkivm" in row["key"] for row in lab.rows("show tblproperties former"))

    def killed(sql):
        if sql.startswith("create or replace view"):
            raise KeyboardInterrupt
        return execute(sql)

    execute = lab.engine.execute
    with monkeypatch.context() as patched:
        patched.setattr(lab.engine, "execute", killed)
        patched.setattr("sparkivm.refresh.public_view.bring_back", lambda *_: None)
        with pytest.raises(KeyboardInterrupt):
            one.refresh()
    assert names(lab, "former") == {"former__ivm", "former__ivm_replaced", "former__ivm_replaced_2"}
    one.must_be("no_op")
    assert lab.rows("select * from former__ivm_replaced") == [(8,)]
    assert lab.rows("select * from former__ivm_replaced_2") == [(7,)]
    drop(one)
    assert names(lab, "former") == {"former__ivm_replaced", "former__ivm_replaced_2"}
    found = leftovers(lab.engine, "lab", [TableName("ownership", "")], {}, ())
    assert [str(one) for one in found] == [
        "ownership.former__ivm_replaced_2: put aside, was ownership.former before the view"
    ]
    drop_leftovers(lab.engine, found)
    assert names(lab, "former") == {"former__ivm_replaced"}
    lab.run("drop table former__ivm_replaced")


def test_what_was_put_aside_comes_back_after_a_kill(lab, monkeypatch):
    lab.run(THEIRS["delta"].format(name="back"))
    one = view(lab, "back", takes_over=True)
    with monkeypatch.context() as patched:
        patched.setattr("sparkivm.refresh.public_view.bring_back", lambda *_: None)
        patched.setattr(lab.engine, "render", _without_public_view(lab.engine.render))
        with pytest.raises(EngineError):
            one.refresh()
    assert "back" not in names(lab, "back")
    with monkeypatch.context() as patched:
        patched.setattr(lab.engine, "render", _without_public_view(lab.engine.render))
        with pytest.raises(EngineError):
            one.refresh()
    assert lab.rows("select * from back") == [(7,)]
    lab.run("drop table back")
    drop(one)


def _without_public_view(render):
    return lambda macro, **arguments: (
        "create view of nothing" if macro == "public_view" else render(macro, **arguments)
    )


def test_a_drop_finds_what_an_interrupted_one_left(lab):
    one = view(lab, "gone", INNER, auxiliary_views="always").build()
    made = {"gone", "gone__ivm", "gone__ivm_aux_1", "gone__ivm_aux_1__ivm"}
    assert names(lab, "gone") == made
    markers = [read_marker(lab.engine.describe(TableName("ownership", name)).properties) for name in made]
    assert {marker.owner for marker in markers} == {one.request.owner}
    lab.run("drop view gone", "drop table gone__ivm", "drop view gone__ivm_aux_1")
    lab.run("create table gone__ivm_step_1 using parquet as select 1 as x")
    assert "gone__ivm_aux_1__ivm" in drop(one)
    assert names(lab, "gone") == {"gone__ivm_step_1"}
    lab.run("drop table gone__ivm_step_1")


def test_files_of_others_where_a_state_would_be(lab, tmp_path):
    location = tmp_path / "located__ivm"
    lab.run(f"create table elsewhere using delta location '{location}' as select 7 as mine")
    one = view(lab, "located", layout=StateLayout(location_root=str(tmp_path)))
    assert "holds a Delta table that dbt-sparkivm did not create" in refused(one)
    assert lab.rows("select * from elsewhere") == [(7,)]
    lab.run("drop table elsewhere")
    own = view(lab, "own_files", layout=StateLayout(location_root=str(tmp_path))).build()
    lab.run("drop table own_files__ivm")  # its files stay, with the frontier
    own.must_be("no_op")
    lab.run("insert into t values (8, 8, 8)")
    own.must_be("incremental")
    drop(own)
