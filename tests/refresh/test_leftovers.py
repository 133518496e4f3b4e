"""Which relations no model needs, and what becomes of each when they are dropped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import EngineError, EngineLost, RelationFacts
from sparkivm.marker import Role
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.leftovers import Found, Leftover, Unread, drop_leftovers, leftovers
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab

SCHEMA = (TableName("shop", ""),)


def made(lab: Lab) -> list[str]:
    return [name for name in lab.names() if name != "t"]


def listed(lab: Lab) -> list[Found]:
    """If the project has no model any more."""
    return leftovers(lab.engine, "lab", SCHEMA, {}, ())


def cannot_read(monkeypatch: pytest.MonkeyPatch, lab: Lab, method: str, name: str) -> None:
    """Reading the metadata of one relation fails."""
    read = getattr(lab.engine, method)

    def fails(one: TableName, *others: int) -> object:
        if one.identifier == name:
            raise EngineError("its directory is gone")
        return read(one, *others)

    monkeypatch.setattr(lab.engine, method, fails)


def test_leftovers_of_models_that_are_gone_or_moved(lab, view):
    stays = lab.view("stays", BY_K).build()
    views = {"shop.stays": "model.lab.stays", "shop.new_name": "model.lab.m"}
    assert leftovers(lab.engine, "another", SCHEMA, {}, ()) == []
    found = leftovers(lab.engine, "lab", SCHEMA, views, ())
    assert [one.relation.name.identifier for one in found] == ["m", "m__ivm"]
    assert "model.lab.m is not built as the view shop.m" in str(found[0])
    assert found[1].as_json() == {
        "relation": "shop.m__ivm",
        "role": "state",
        "model": "model.lab.m",
        "why": "model.lab.m is not built as the view shop.m",
        "dropped": False,
        "problem": "",
    }
    done = drop_leftovers(lab.engine, found)
    assert [(one.dropped, one.problem) for one in done] == 2 * [(True, "")]
    assert str(done[1]) == f"{found[1]}; dropped"
    stays.must_be("no_op")
    assert made(lab) == ["stays", "stays__ivm"]


def test_a_view_with_a_name_like_ours_is_listed_once(lab):
    lab.view("m__ivm_notes", BY_K).build()
    found = [str(one.relation.name) for one in listed(lab)]
    assert found == ["shop.m__ivm_notes", "shop.m__ivm_notes__ivm"]


def test_leftovers_of_what_was_put_aside_and_of_mirrors(lab):
    lab.run("create table m using delta as select 7 as mine", "create table p using parquet as select 1 as k")
    lab.view("m", BY_K, takes_over=True).build()
    lab.view("v", "select k from p", declared=DeclaredSources("shop", project="lab")).build()
    views = {"shop.m": "model.lab.m", "shop.v": "model.lab.v"}
    found = leftovers(lab.engine, "lab", SCHEMA, views, {"shop.p", "shop.t"})
    assert [str(one) for one in found] == ["shop.m__ivm_replaced: put aside, was shop.m before the view"]
    del views["shop.v"]
    found = leftovers(lab.engine, "lab", SCHEMA, views, {"shop.t"})
    assert "shop.p__ivm_mirror: mirror, the project reads no mirror of shop.p" in map(str, found)


def test_a_mirror_that_a_view_reads_through_a_plain_view_is_no_leftover(lab):
    lab.run(
        "create table base using parquet as select 1 as k, 2 as x", "create view ext as select k, x from base"
    )
    view = lab.view(
        "w", "select k, sum(x) as s from ext group by k", declared=DeclaredSources("shop", {}, "lab")
    )
    view.refresh()
    assert "base__ivm_mirror" in lab.names()
    assert leftovers(lab.engine, "lab", SCHEMA, {"shop.w": "model.lab.w"}, {"shop.ext"}) == []
    found = leftovers(lab.engine, "lab", SCHEMA, {}, {"shop.ext"})
    assert {one.marker.role for one in found} == {Role.STATE, Role.PUBLIC_VIEW, Role.MIRROR}


def test_a_mirror_whose_source_needs_none_any_more_is_a_leftover(lab):
    """It is listed as soon as no view reads it. One that the next run would make again is not."""
    lab.run("create table p using parquet as select 1 as k", "create table q using parquet as select 1 as k")
    declared = DeclaredSources("shop", project="lab")
    view = lab.view("v", "select k from p", declared=declared).build()
    lab.capture("q", declared)  # before a view reads it
    views, sources = {"shop.v": "model.lab.v"}, {"shop.p", "shop.q"}

    def mirrors(declared: DeclaredSources = declared) -> list[str]:
        return list(map(str, leftovers(lab.engine, "lab", SCHEMA, views, sources, declared)))

    assert mirrors() == []
    lab.run("drop table p", "create table p using delta as select 1 as k")
    assert mirrors() == [], "the state was computed from it"
    view.must_be("full", Reason.SOURCE_REPLACED)
    assert mirrors() == ["shop.p__ivm_mirror: mirror, the project reads no mirror of shop.p"]
    for mirror in (True, "wrong"):
        assert mirrors(replace(declared, metas={"shop.p": {"mirror": mirror}})) == []
    lab.run("drop table p")
    assert mirrors() == [], "it may be created again"
    assert mirrors(replace(declared, metas={"shop.q": {"mirror": False}})) == [
        "shop.q__ivm_mirror: mirror, the project reads no mirror of shop.q"
    ]


def test_a_relation_that_cannot_be_read_is_listed(lab, view, monkeypatch):
    """It may be another project's, so it is not dropped, and the others are found."""
    lab.view("other", BY_K).build()
    cannot_read(monkeypatch, lab, "describe", "other__ivm")
    found = listed(lab)
    assert [str(one) for one in found[2:]] == ["shop.other__ivm: it cannot be read: its directory is gone"]
    assert found[2].as_json() == {
        "relation": "shop.other__ivm",
        "role": None,
        "model": None,
        "why": "",
        "dropped": False,
        "problem": "it cannot be read: its directory is gone",
    }
    done = drop_leftovers(lab.engine, found)
    assert [one.as_json()["dropped"] for one in done] == [True, True, False]
    assert made(lab) == ["other", "other__ivm"]


def test_what_cannot_be_read_is_listed_by_name(lab, monkeypatch):
    for name in ("b", "a", "c"):
        lab.view(name, BY_K).build()
    lost = {"a__ivm", "b__ivm", "c__ivm"}
    describe = lab.engine.describe

    def fails(one: TableName) -> object:
        if one.identifier in lost:
            raise EngineError("its directory is gone")
        return describe(one)

    monkeypatch.setattr(lab.engine, "describe", fails)
    unread = [str(one.name) for one in listed(lab) if isinstance(one, Unread)]
    assert unread == ["shop.a__ivm", "shop.b__ivm", "shop.c__ivm"]


def test_a_schema_that_cannot_be_listed(lab, view, monkeypatch):
    """For example in a catalog that this Spark does not have."""
    listed_in = lab.engine.names_like

    def names_like(prefix: TableName) -> object:
        if prefix.catalog:
            raise EngineError("there is no such catalog")
        return listed_in(prefix)

    monkeypatch.setattr(lab.engine, "names_like", names_like)
    found = leftovers(lab.engine, "lab", [TableName("shop", "", "states"), *SCHEMA], {}, ())
    assert [str(one) for one in found[2:]] == ["states.shop: it cannot be read: there is no such catalog"]


@pytest.mark.parametrize("method", ["describe", "commits"])
def test_a_mirror_stays_while_a_state_cannot_be_read(lab, monkeypatch, method):
    """The state may read it."""
    lab.run("create table p using parquet as select 1 as k")
    lab.view("v", "select k from p", declared=DeclaredSources("shop", project="lab")).build()
    cannot_read(monkeypatch, lab, method, "v__ivm")
    found = leftovers(lab.engine, "lab", SCHEMA, {"shop.v": "model.lab.v"}, {"shop.t"})
    assert [type(one) for one in found] == [Leftover, Unread]
    done = drop_leftovers(lab.engine, found)
    assert done == found
    assert "it stays, because shop.v__ivm may read it" in str(done[0])
    assert lab.has("p__ivm_mirror")


def test_only_mirrors_stay_because_of_a_state_that_cannot_be_read(lab, monkeypatch):
    """No other view reads a state that is left over."""
    lab.run("create table p using parquet as select 1 as k")
    lab.view("v", "select k from p", declared=DeclaredSources("shop", project="lab")).build()
    lab.view("gone", BY_K).build()
    cannot_read(monkeypatch, lab, "commits", "v__ivm")
    found = leftovers(lab.engine, "lab", SCHEMA, {"shop.v": "model.lab.v"}, {"shop.t"})
    assert {str(one.relation.name): one.stays for one in found if isinstance(one, Leftover)} == {
        "shop.gone": False,
        "shop.gone__ivm": False,
        "shop.p__ivm_mirror": True,
    }


def test_what_cannot_be_dropped_does_not_stop_the_others(lab, view):
    """A state stays with its view."""
    lab.view("other", BY_K).build()
    lab.engine.fails("drop view", "no permission")
    done = drop_leftovers(lab.engine, listed(lab))
    assert [(str(one.relation.name), one.dropped, one.problem) for one in done] == [
        ("shop.m", False, "it cannot be dropped: no permission"),
        ("shop.other", True, ""),
        ("shop.m__ivm", False, "it stays, because a view that reads it cannot be dropped"),
        ("shop.other__ivm", True, ""),
    ]
    assert made(lab) == ["m", "m__ivm"]
    assert len(drop_leftovers(lab.engine, listed(lab))) == 2
    assert made(lab) == []


def test_a_state_whose_view_cannot_be_read_stays(lab, view, monkeypatch):
    cannot_read(monkeypatch, lab, "describe", "m")
    state, unread = drop_leftovers(lab.engine, listed(lab))
    assert "it stays, because a view that reads it" in str(state)
    assert unread.problem == "it cannot be read: its directory is gone"
    assert made(lab) == ["m", "m__ivm"]


def test_what_a_drop_cannot_clean_up_is_said(lab, view, monkeypatch):
    def releases(engine, relation: RelationFacts, frontier: object) -> None:
        engine.warn("the tag stays")

    monkeypatch.setattr("sparkivm.refresh.stored.ownership.release_snapshots", releases)
    done = drop_leftovers(lab.engine, listed(lab))
    assert [(one.dropped, one.problem) for one in done] == [(True, ""), (True, "the tag stays")]
    assert str(done[1]).endswith("; dropped; the tag stays")


def test_a_spark_that_is_gone_stops_everything(lab, view, monkeypatch):
    def lost(sql: str) -> None:
        raise EngineLost("there is no Spark")

    found = listed(lab)
    monkeypatch.setattr(lab.engine, "execute", lost)
    with pytest.raises(EngineLost):
        drop_leftovers(lab.engine, found)
