"""A state that has to be in another catalog than before: it is built there, and the former one is dropped."""

from __future__ import annotations

import pytest

from sparkivm.names import MOST_NUMBERED, TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.stored.drop_view import drop_incremental_view
from tests.fake_engine.engine import Killed
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab, View, refused

HERE = StateLayout()


def there(catalog: str) -> StateLayout:
    return StateLayout(catalog=catalog)


def states(lab: Lab) -> list[str]:
    """The tables that store views, with their catalogs."""
    names = [relation.name for relation in lab.lake.relations.values()]
    return sorted(str(name) for name in names if name.identifier.endswith("__ivm"))


@pytest.fixture
def moved(lab: Lab) -> View:
    """A view whose state is to move from the catalog `a` to the view's own."""
    return lab.view("m", BY_K, layout=there("a")).build().with_(layout=HERE)


def test_the_former_state_is_dropped(lab, moved):
    assert moved.must_be("full", Reason.CONFIG_CHANGED).warnings == ()
    assert states(lab) == ["shop.m__ivm"]
    assert moved.must_be("no_op").warnings == ()


def test_a_former_catalog_that_the_session_does_not_have(lab, moved):
    """As `sparkivm` after `state_format: iceberg` was removed from the profile."""
    lab.engine.lost.add("a")
    (warning,) = moved.must_be("full", Reason.CONFIG_CHANGED).warnings
    assert "a.shop.m__ivm" in warning
    assert "drop it" in warning
    assert moved.must_be("no_op").warnings == (warning,)
    lab.run("insert into t values (4, 3, 8)")
    assert moved.must_be("incremental").warnings == (warning,)
    assert moved.must_be("no_op").warnings == ()
    assert moved.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True).warnings == ()
    assert lab.lake.relations.keys() >= {TableName("shop", "m__ivm", "a").key}


@pytest.mark.parametrize("forbids", [{"refresh_mode": "strict"}, {"full_refresh_allowed": False}])
def test_a_move_that_is_not_allowed_can_be_asked_for(lab, moved, forbids):
    assert "CONFIG_CHANGED" in refused(moved, **forbids)
    assert states(lab) == ["a.shop.m__ivm"]
    moved.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True, **forbids)
    moved.must_be("no_op", **forbids)


TWICE = "select n, count(*) as c from (select k, count(*) as n from t group by k) group by n"


@pytest.mark.parametrize("catalog", ["a", None])
def test_the_former_states_of_auxiliary_views_are_dropped(lab, catalog):
    lab.view("m", TWICE, layout=StateLayout(catalog=catalog), auxiliary_views="always").build()
    assert len(states(lab)) == 2
    view = lab.view("m", TWICE, layout=there("b"), auxiliary_views="never")
    view.must_be("full", Reason.CONFIG_CHANGED)
    assert lab.names() == ["m", "m__ivm", "t"]
    assert states(lab) == ["b.shop.m__ivm"]


def test_the_former_state_of_the_last_possible_auxiliary_view_is_dropped(lab):
    lab.view("m", TWICE, layout=there("a"), auxiliary_views="always").build()
    lab.run(f"alter table a.shop.m__ivm_aux_1__ivm rename to a.shop.m__ivm_aux_{MOST_NUMBERED}__ivm")
    lab.view("m", TWICE, layout=there("b"), auxiliary_views="never").refresh()
    assert states(lab) == ["b.shop.m__ivm"]


def test_a_table_of_somebody_else_with_such_a_name_stays(lab):
    lab.view("m", TWICE, layout=there("a"), auxiliary_views="always").build()
    lab.run("create table a.shop.m__ivm_aux_2__ivm (x int) using delta")
    lab.view("m", TWICE, layout=there("b"), auxiliary_views="never").refresh()
    assert states(lab) == ["a.shop.m__ivm_aux_2__ivm", "b.shop.m__ivm"]


def test_auxiliary_views_move_with_their_view(lab):
    lab.view("m", TWICE, layout=there("a"), auxiliary_views="always").build()
    view = lab.view("m", TWICE, layout=there("b"), auxiliary_views="always")
    view.must_be("full", Reason.CONFIG_CHANGED)
    assert states(lab) == ["b.shop.m__ivm", "b.shop.m__ivm_aux_1__ivm"]
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")


def test_a_move_that_dies_anywhere(lab):
    """The next runs drop what it left."""

    def moves(lab: Lab) -> View:
        return lab.view("m", TWICE, layout=there("b"), auxiliary_views="never")

    lab.view("m", TWICE, layout=there("a"), auxiliary_views="always").build()
    whole = moves(lab.fork())
    whole.refresh()
    for at in range(1, len(whole.lab.engine.ran) + 1):
        for when in ("before", "after"):
            view = moves(lab.fork())
            view.lab.engine.is_killed(at, when)
            with pytest.raises(Killed):
                view.refresh()
            again = view.on(view.lab.another())
            again.refresh()
            again.check()
            assert again.lab.names() == ["m", "m__ivm", "t"], (at, when)
            assert states(again.lab) == ["b.shop.m__ivm"], (at, when)


def test_a_view_is_dropped_though_another_models_catalog_is_lost(lab, view):
    """A catalog that only other models name is not needed."""
    lab.engine.lost.add("a")
    owner = view.request.owner
    said = drop_incremental_view(lab.engine, view.request.view, owner.project, owner.model, ["a"])
    assert "catalog a was not searched" in said
    assert lab.names() == ["t"]
