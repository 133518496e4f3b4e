"""Relations of others are never touched, even under a name that a view needs, with or without a marker."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.marker import PROPERTIES, Owner, owner_of, read_marker
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.history import history
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.stored.drop_view import drop_incremental_view
from tests.fake_engine.engine import Killed
from tests.fake_engine.statements import execute
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab, View, refused

METADATA = "spark.databricks.delta.commitInfo.userMetadata"
INNER = "select n, count(*) as c from (select k, count(*) as n from t group by k) group by n"
SCHEMA = (TableName("shop", ""),)
THEIRS = {
    "delta": "create table {name} using delta as select 7 as mine",
    "parquet": "create table {name} using parquet as select 7 as mine",
    "view": "create view {name} as select 7 as mine",
}
OPTIONS = {
    "": {},
    "in full": {"full_refresh": True},
    "empty": {"empty": True},
    "strict": {"refresh_mode": "strict"},
}


def names(lab: Lab) -> list[str]:
    return [name for name in lab.names() if name != "t"]


@pytest.mark.parametrize("make", THEIRS)
@pytest.mark.parametrize("name", ["m", "m__ivm"])
def test_a_relation_of_somebody_is_in_the_way(lab, make, name):
    lab.run(THEIRS[make].format(name=name))
    view = lab.view("m", BY_K)
    for options in OPTIONS.values():
        message = refused(view, **options)
        assert f"shop.{name}, the name of its" in message
        assert "that dbt-sparkivm did not create" in message
    with pytest.raises(ModelError, match="that dbt-sparkivm did not create"):
        view.explain()
    with pytest.raises(ModelError, match="has no state" if name == "m" else "did not create"):
        history(lab.engine, view.request, limit=1)
    with pytest.raises(ModelError, match="has no table or view"):
        view.drop()
    assert lab.rows(f"select * from {name}") == [(7,)]
    assert names(lab) == [name]
    assert lab.engine.ran == []


@pytest.mark.parametrize(
    "changed", [{"project": "else"}, {"model": "model.lab.other"}], ids=["project", "model"]
)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_a_view_of_another_owner(lab, view, changed, options):
    other = View(lab, replace(view.request, owner=replace(view.request.owner, **changed)))
    assert "is taken by the state of model.lab.m of project lab" in refused(other, **options)
    with pytest.raises(ModelError, match="has no table or view"):
        other.drop()
    assert lab.engine.ran == []
    view.must_be("no_op")


@pytest.mark.parametrize("lost", ["", "view m", "table m__ivm"])
def test_a_model_that_was_renamed_and_kept_its_alias(lab, view, lost):
    """The message has the command that drops what the former model left."""
    if lost:
        lab.run(f"drop {lost}")
    renamed = View(lab, replace(view.request, owner=Owner("lab", "model.lab.m.v2", "shop.m")))
    command = "run `dbt run-operation drop_incremental_view --args '{view: shop.m}'`, or give"
    assert command in refused(renamed)
    drop_incremental_view(lab.engine, TableName("shop", "m"), "lab")
    renamed.must_be("create")


def test_a_relation_that_no_command_drops_is_renamed_or_dropped_by_hand(lab, view):
    """A copy of the state, or what belongs to another project."""
    lab.run("drop view m")
    properties = ", ".join(f"'{k}' = '{v}'" for k, v in view.request.state_marker.properties.items())
    lab.run(f"create table m using delta tblproperties ({properties}) as select 7 as mine")
    other = View(lab, replace(view.request, owner=Owner("lab", "model.lab.b", "shop.m")))
    lab.run("drop table m__ivm")
    assert "rename or drop that relation" in refused(other)
    theirs = View(lab, replace(view.request, owner=Owner("else", "model.lab.m", "shop.m")))
    assert "rename or drop that relation" in refused(theirs)


def test_a_public_view_of_another_model_is_never_put_aside(lab, view):
    lab.run("drop table m__ivm")
    other = View(lab, replace(view.request, owner=Owner("lab", "model.lab.b", "shop.m")))
    assert "the public view of model.lab.m" in refused(other, takes_over=True)
    view.must_be("create")


def test_a_state_whose_frontier_is_another_models(lab, view):
    """As after a clone, which copies the properties, when somebody added a marker."""
    other = lab.view("other", BY_K).build()
    execute(lab.session, f"set {METADATA}={other.history()[-1].user_metadata}")
    properties = ", ".join(f"'{k}' = '{v}'" for k, v in view.request.state_marker.properties.items())
    lab.run(f"alter table m__ivm set tblproperties ({properties})")
    del lab.session.settings[METADATA]
    result = view.must_be("full", Reason.STATE_MODIFIED)
    assert "was written for model.lab.other" in str(result.fallback)
    view.must_be("no_op")


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_marker_with_a_part_that_is_missing_is_none(lab, view, name):
    lab.run(f"alter table m__ivm unset tblproperties if exists ('{name}')")
    assert read_marker(lab.properties("m__ivm")) is None
    assert view.must_be("no_op").statements == ()
    lab.run("drop view m", f"create view m tblproperties ('{PROPERTIES[0]}' = 'lab') as select 7 as mine")
    assert "that dbt-sparkivm did not create" in refused(view)
    assert lab.rows("select * from m") == [(7,)]


# what the model was before


@pytest.mark.parametrize("make", THEIRS)
def test_what_the_model_was_before_is_put_aside(lab, make):
    lab.run(THEIRS[make].format(name="m"), "create table m__ivm_replaced using parquet as select 8 as x")
    view = lab.view("m", BY_K, takes_over=True)
    result = view.must_be("create")
    assert any("is kept as shop.m__ivm_replaced_2" in text for text in result.warnings)
    assert lab.rows("select * from m__ivm_replaced_2") == [(7,)]
    assert lab.rows("select * from m__ivm_replaced") == [(8,)]
    view.must_be("no_op")
    view.drop()
    assert names(lab) == ["m__ivm_replaced", "m__ivm_replaced_2"]


@pytest.mark.parametrize("make", THEIRS)
@pytest.mark.parametrize("failing", ["create or replace table", "create or replace view"])
def test_what_the_model_was_before_comes_back_after_a_failure(lab, make, failing):
    lab.run(THEIRS[make].format(name="m"))
    lab.engine.fails(failing, "[SOMETHING] is wrong")
    view = lab.view("m", BY_K, takes_over=True)
    with pytest.raises(EngineError):
        view.refresh()
    assert lab.rows("select * from m") == [(7,)]
    assert "m__ivm_replaced" not in names(lab)
    facts = lab.engine.describe(TableName("shop", "m"))
    assert facts is not None
    assert not any(name in facts.properties for name in PROPERTIES)
    assert view.refresh().mode in ("create", "no_op")
    view.check()


@pytest.mark.parametrize("make", THEIRS)
def test_a_change_of_what_a_model_is_built_as_that_dies_anywhere(make):
    """The former rows exist at every moment, and the next run completes the work."""
    whole = _changing(make)
    whole.must_be("create")
    for at in range(1, len(whole.lab.engine.ran) + 1):
        for when in ("before", "after"):
            view = _changing(make)
            view.lab.engine.is_killed(at, when)
            with pytest.raises(Killed):
                view.refresh()
            again = view.on(view.lab.another())
            former = [name for name in ("m", "m__ivm_replaced") if again.lab.has(name)]
            assert any(again.lab.rows(f"select * from {name}") == [(7,)] for name in former), (at, when)
            assert again.refresh().mode in ("create", "no_op"), (at, when)
            again.check()
            assert again.lab.rows("select * from m__ivm_replaced") == [(7,)], (at, when)
            assert again.lab.names() == whole.lab.names(), (at, when)


def _changing(make: str) -> View:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    lab.run(THEIRS[make].format(name="m"))
    return lab.view("m", BY_K, takes_over=True)


# auxiliary views, files


@pytest.mark.parametrize("takes_over", [False, True])
@pytest.mark.parametrize("name", ["m__ivm_aux_1", "m__ivm_aux_1__ivm"])
def test_a_relation_of_somebody_by_the_name_of_an_auxiliary_view(lab, name, takes_over):
    """The view is built without it, and a warning says so. Only the model may have been something else before."""
    lab.run(f"create table {name} using delta as select 7 as mine")
    view = lab.view("m", INNER, auxiliary_views="always", takes_over=takes_over)
    result = view.must_be("create")
    assert any(f"shop.{name}, the name of its" in text for text in result.warnings)
    lab.run("insert into t values (9, 1, 1)")
    view.must_be("incremental")
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    view.drop()
    assert names(lab) == [name]
    assert lab.rows(f"select * from {name}") == [(7,)]


def test_all_that_is_kept_for_a_view_has_its_marker(lab):
    view = lab.view("m", INNER, auxiliary_views="always").build()
    for name in names(lab):
        facts = lab.engine.describe(TableName("shop", name))
        marker = read_marker(facts.properties) if facts else None
        assert marker is not None
        assert marker.owner == view.request.owner


@pytest.mark.parametrize("gone", range(1, 16))
def test_a_drop_finds_what_an_interrupted_one_left(lab, gone):
    """For each subset of the four relations."""
    view = lab.view("m", INNER, auxiliary_views="always").build()
    lab.run("create table m__ivm_step_1 using parquet as select 1 as x")
    made = ["m", "m__ivm", "m__ivm_aux_1", "m__ivm_aux_1__ivm"]
    for number, name in enumerate(made):
        if gone >> number & 1:
            lab.run(f"drop {'view' if name in ('m', 'm__ivm_aux_1') else 'table'} {name}")
    if gone == 15:
        with pytest.raises(ModelError, match="has no table or view"):
            view.drop()
    else:
        view.drop()
    assert names(lab) == ["m__ivm_step_1"]


def test_files_of_others_where_a_state_would_be(lab):
    lab.run("create table elsewhere using delta location '/data/m__ivm' as select 7 as mine")
    view = lab.view("m", BY_K, layout=StateLayout(location_root="/data"))
    assert "holds a Delta table that dbt-sparkivm did not create" in refused(view)
    assert lab.rows("select * from elsewhere") == [(7,)]
    assert names(lab) == ["elsewhere"]


def test_a_state_whose_files_are_still_there_is_taken_up_again(lab):
    view = lab.view("m", BY_K, layout=StateLayout(location_root="/data")).build()
    lab.run("drop table m__ivm")
    view.must_be("no_op")
    lab.run("insert into t values (8, 8, 8)")
    view.must_be("incremental")


def test_a_no_op_looks_at_each_relation_once(lab):
    """The name check adds no catalog lookup, if the model names the schemas of what it reads."""
    view = lab.view("m", BY_K.replace("from t", "from shop.t")).build()
    asked: list[str] = []
    describe = lab.engine.describe
    lab.engine.describe = lambda name: asked.append(name.identifier) or describe(name)  # type: ignore[method-assign]
    view.must_be("no_op")
    assert sorted(asked) == ["m", "m__ivm", "t"]


def test_a_mirror_is_not_dropped_as_a_view(lab):
    lab.run("create table p using parquet as select 1 as k")
    lab.view("v", "select k from p", declared=DeclaredSources("shop", project="lab")).build()
    with pytest.raises(ModelError, match="has no table or view"):
        drop_incremental_view(lab.engine, TableName("shop", "p__ivm_mirror"), "lab")
    assert lab.has("p__ivm_mirror")


def test_a_name_that_is_taken_while_the_view_is_built(lab):
    """Somebody else's relation is not put aside if the model had no relation before."""
    view = lab.view("m", BY_K)
    lab.engine.after(1, lambda: lab.another().run(THEIRS["delta"].format(name="m")))
    with pytest.raises(ModelError, match=r"shop\.m, the name of its public view, is taken"):
        view.refresh()
    assert lab.rows("select * from m") == [(7,)]
    assert not lab.has("m__ivm_replaced")


def test_a_project_that_was_renamed(lab, view):
    renamed = view.with_(owner=owner_of("lab_2", "model.lab_2.m", view.request.view))
    assert "if project lab was renamed, run drop_incremental_view with project: lab" in refused(renamed)
    drop_incremental_view(lab.engine, view.request.view, "lab")
    renamed.must_be("create")
