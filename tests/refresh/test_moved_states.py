"""A state that has to be in another catalog than before: it is built there, and the former one is dropped."""

from __future__ import annotations

import pytest

from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab, View

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
