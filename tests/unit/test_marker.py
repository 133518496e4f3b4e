"""Who owns a relation, and which names the nodes of a project need."""

from __future__ import annotations

import re

import pytest

from sparkivm.errors import ModelError
from sparkivm.marker import (
    PROPERTIES,
    STATE_CATALOG,
    Marker,
    Owner,
    Role,
    as_written,
    read_marker,
    shown,
    state_catalog,
)
from sparkivm.names import TableName, auxiliary_view, state_table, step_table
from sparkivm.refresh.operations.name_collisions import Built, NamesInProject

MARKER = Marker(Owner("shop", "model.shop.o", "s.o"), Role.STATE)


def test_a_marker_is_read_back():
    assert read_marker({**MARKER.properties, "delta.enableChangeDataFeed": "true"}) == MARKER


@pytest.mark.parametrize("view", ["s.hourly_sales", "s.TOKENS", "s.access.key", "s.passwords", "s.été_url"])
def test_spark_shows_all_of_a_marker(view):
    """It hides properties with certain words: `hourly` has `url` in it."""
    marker = Marker(Owner("secret_shop", "model.credentials.o", view), Role.PUBLIC_VIEW)
    hidden = re.compile("(?i)url|secret|password|token|access[.]?key|credential")  # Spark's defaults
    assert not [text for text in marker.properties.values() if hidden.search(text)]
    assert read_marker(marker.properties) == marker
    assert state_catalog({STATE_CATALOG: shown("token_lake")}) == "token_lake"


@pytest.mark.parametrize("text", ["hex:", "hex:xyz", "hex:ff"])
def test_a_text_that_nobody_wrote_is_itself(text):
    assert as_written(text) in (text, "")


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_marker_that_is_not_whole_is_none(name):
    properties = MARKER.properties
    del properties[name]
    assert read_marker(properties) is None


def test_a_role_that_nobody_knows():
    assert read_marker({**MARKER.properties, "sparkivm.role": "friend"}) is None


def incremental(who: str, name: str, schema: str = "s") -> Built:
    return Built(who, TableName(schema, name), incremental=True)


def table(who: str, name: str) -> Built:
    return Built(who, TableName("s", name))


LONG = "l" * 250
COLLISIONS = {
    "a view by the name of a state": (incremental("a", "o"), incremental("b", "o__ivm"), "s.o__ivm would be its state"),
    "case": (incremental("a", "same"), incremental("b", "SAME"), "s.same would be its relation and the relation of b"),
    "schemas in another case": (incremental("a", "o", "S"), incremental("b", "o"), "s.o would be"),
    "a table by the name of a state": (incremental("a", "o"), table("b", "O__IVM"), "s.o__ivm would be its state"),
    "an auxiliary view": (incremental("a", "o"), table("b", "o__ivm_aux_2"), "its auxiliary view"),
    "the state of an auxiliary view": (incremental("a", "o"), table("b", "o__ivm_aux_1__ivm"), "state of an auxiliary view"),
    "what is put aside": (incremental("a", "o"), table("b", "o__ivm_replaced"), "its place for a former relation"),
    "a mirror": (incremental("a", "t__ivm_mirror"), table("the mirror of s.t", "t__ivm_mirror"), "the mirror of s.t"),
    "two states": (incremental("a", LONG), incremental("b", LONG.upper()), "would be its relation"),
}  # fmt: skip


@pytest.mark.parametrize("case", COLLISIONS.values(), ids=COLLISIONS)
def test_two_nodes_that_need_one_name(case):
    one, other, message = case
    names = NamesInProject([one, other])
    with pytest.raises(ModelError, match=message):
        names.check("a")
    if other.incremental:
        with pytest.raises(ModelError, match="of a"):
            names.check("b")


def test_nodes_that_need_different_names():
    names = NamesInProject(
        [
            incremental("a", "o"),
            incremental("b", "o_2"),
            incremental("c", "o", "other"),
            table("d", "o__ivm_aux"),
        ]
    )
    for who in "abc":
        names.check(who)


@pytest.mark.parametrize(
    ("role", "view", "name", "fits"),
    [
        (Role.STATE, "s.o", "s.o__ivm", True),
        (Role.STATE, "s.o", "states.S.O__ivm", True),
        (Role.STATE, "states.s.o", "states.s.o__ivm", True),
        (Role.STATE, "s.o", "s.o__ivm_backup", False),
        (Role.STATE, "s.o", "backup.o__ivm", False),
        (Role.STATE, "s.o", "s.oo__ivm", False),
        (Role.STATE, "ss.o", "s.o__ivm", False),
        (Role.PUBLIC_VIEW, "s.o", "s.o", True),
        (Role.PUBLIC_VIEW, "s.o", "s.o_copy", False),
        (Role.AUXILIARY_VIEW, "s.o", "s.o__ivm_aux_12", True),
        (Role.AUXILIARY_VIEW, "s.o", "s.o__ivm_aux_12__ivm", False),
        (Role.AUXILIARY_STATE, "s.o", "s.o__ivm_aux_12__ivm", True),
        (Role.AUXILIARY_STATE, "s.o", "s.o__ivm_aux_x__ivm", False),
        (Role.STEP, "s.o", "s.o__ivm_step_65_ab_1", True),
        (Role.STEP, "s.o", "s.o_copy", False),
        (Role.MIRROR, "s.p", "s.any", True),
        (Role.PUT_ASIDE, "s.o", "s.o__ivm_replaced", True),
    ],
)
def test_a_copy_has_another_name(role, view, name, fits):
    *head, schema, identifier = name.split(".")
    marker = Marker(Owner("shop", "model.shop.o", view), role)
    assert marker.fits(TableName(schema, identifier, head[0] if head else None)) is fits


@pytest.mark.parametrize("letter", ["l", "ü"])
def test_a_name_that_was_cut_fits(letter):
    view = TableName("s", letter * (250 // len(letter.encode())))
    owner = Owner("shop", "model.shop.o", view.key)
    assert Marker(owner, Role.STATE).fits(state_table(view))
    assert Marker(owner, Role.AUXILIARY_STATE).fits(state_table(auxiliary_view(view, 3)))
    assert Marker(owner, Role.STEP).fits(step_table(view, "65_ab_1"))
    assert not Marker(owner, Role.STATE).fits(state_table(TableName("s", "m" * 250)))
