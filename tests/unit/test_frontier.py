"""A frontier is external data: what is not entirely valid counts as another format and never raises another error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkivm.changes import frontier as module
from sparkivm.changes.frontier import (
    STATE_FORMAT,
    Frontier,
    OtherFormat,
    SourceFrontier,
    read_frontier,
)
from sparkivm.engine import RelationFacts
from sparkivm.names import TableName

FRONTIER = Frontier(
    project="p",
    model="model.p.v",
    view="s.v",
    kind="group",
    text="0123",
    plan="4567",
    settings={"spark.sql.ansi.enabled": "false"},
    sources={
        "s.t": SourceFrontier(
            "s.t", "id", 7, "transaction:a", 1_700_000_000_000, {"k": "int", "Ω `;'$": "string"}
        )
    },
    views={"s.w": "89ab"},
    schemas={"s.t": "cdef"},
    fields=(("k", "int"), ("n", "bigint")),
    types={"1f": ("int",), "2e": (), "3d": ("bigint", "string")},
    public=("01", "23"),
    base=3,
    several=True,
    appended=2,
    nonce="n",
    moments={"current_date": "date'2024-01-01'"},
    auxiliaries=("select 1",),
)
WHOLE: dict[str, Any] = json.loads(FRONTIER.to_json())

_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**30, -(10**400), 2**63, 5, 5.0, 1e300, float("nan"), float("inf"), STATE_FORMAT])
    | st.text(max_size=5)
    | st.sampled_from(["bag", "full", "group", "sparkivm", "seal", "version", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5) | st.sampled_from(["k", "version", "name"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all nested values."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from nodes(item, (*path, key))


def changed(path: tuple[Any, ...], how: str, value: Any, key: str) -> dict[str, Any]:
    """The frontier with one node replaced, deleted or added."""
    damaged = json.loads(json.dumps(WHOLE))
    *way, last = path
    holder = damaged
    for step in way:
        holder = holder[step]
    if how == "replace":
        holder[last] = value
    elif how == "delete":
        del holder[last]
    elif isinstance(holder, list):
        holder.insert(last, value)
    else:
        holder[key] = value
    return damaged


def sealed(values: dict[str, Any]) -> dict[str, Any]:
    """With a valid seal, as another build with the same format number would write it."""
    rest = {key: value for key, value in values.items() if key not in ("sparkivm", "seal")}
    return {**values, "seal": module._seal(rest)}


def read_or_refused(text: str) -> Frontier | None:
    """The frontier that was read; None if the text was refused."""
    try:
        return read_frontier(text)
    except OtherFormat:
        return None


damages = st.builds(
    changed,
    st.sampled_from(list(nodes(WHOLE))),
    st.sampled_from(["replace", "delete", "add"]),
    _values,
    st.text(max_size=5) | st.sampled_from(["sources", "more", "Version"]),
)


def test_a_valid_one_is_read_as_it_was_written():
    assert read_frontier(FRONTIER.to_json()) == FRONTIER


def is_whole_or_refused(damaged: dict[str, Any]) -> None:
    """Even with a valid seal, what we read is complete, and writing it again gives the same values."""
    found = read_or_refused(json.dumps(damaged))
    assert found is None or (found == FRONTIER and damaged == WHOLE)
    text = json.dumps(sealed(damaged))
    found = read_or_refused(text)
    assert found is None or json.loads(found.to_json()) == json.loads(text)


@settings(max_examples=200)
@given(damages)
def test_a_damaged_one_is_refused(damaged):
    is_whole_or_refused(damaged)


@pytest.mark.nightly
@settings(max_examples=1000)
@given(damages)
def test_many_damaged_ones_are_refused(damaged):
    is_whole_or_refused(damaged)


def test_one_cut_or_overwritten_is_refused():
    whole = FRONTIER.to_json()
    for at in range(len(whole)):
        assert read_or_refused(whole[:at]) is None
        for text in ('"', "{", "0", ",", "\\"):
            assert read_or_refused(whole[:at] + text + whole[at + 1 :]) in (None, FRONTIER)
            assert read_or_refused(whole[:at] + text + whole[at:]) in (None, FRONTIER)


@pytest.mark.parametrize("depth", [100, 300, 500, 700, 900, 3000, 100_000])
def test_deep_ones_are_refused(depth):
    deep = '{"base":' + "[" * depth + "]" * depth + "," + FRONTIER.to_json()[1:]
    assert read_or_refused(deep) in (None, FRONTIER)
    assert read_or_refused(deep.replace('"base"', '"more"')) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sources", []), ("settings", "spark"), ("base", "one"), ("base", True), ("base", 3.0),
        ("base", 2**63), ("base", -(2**63) - 1), ("base", None), ("several", 1), ("kind", "heap"),
        ("kind", ["bag"]), ("fields", [["k"]]), ("fields", [["k", "int", ""]]), ("fields", {"k": "int"}),
        ("types", [["int", 1]]), ("types", 7), ("public", "ab"), ("moments", {"now": None}),
        ("sources", {"s.t": {}}),
        ("sources", {"s.t": WHOLE["sources"]["s.t"] | {"version": "seven"}}),
        ("sources", {"s.t": WHOLE["sources"]["s.t"] | {"size": 7}}),
    ],
)  # fmt: skip
def test_each_field_has_its_type(field, value):
    with pytest.raises(OtherFormat):
        read_frontier(json.dumps(sealed(WHOLE | {field: value})))


@pytest.mark.parametrize("field", [name for name in WHOLE if name != "sparkivm"])
def test_each_field_is_there(field):
    rest = {key: value for key, value in WHOLE.items() if key != field}
    with pytest.raises(OtherFormat):
        read_frontier(json.dumps(rest if field == "seal" else sealed(rest)))


@pytest.mark.parametrize(
    "format_",
    [STATE_FORMAT - 1, STATE_FORMAT + 1, True, float(STATE_FORMAT), str(STATE_FORMAT), None, [STATE_FORMAT]],
)
def test_other_formats(format_):
    text = json.dumps(WHOLE | {"sparkivm": format_})
    with pytest.raises(OtherFormat):
        read_frontier(text)


@pytest.mark.parametrize(
    "text",
    [
        None, "", "written by hand", '{"batchId": 7}', "sparkivm", '"sparkivm"', '["sparkivm"]', '{"sparkivm', '{"sparkivm_mirror":1}',
        '{"sparkivm":' + "[" * 100_000 + "]" * 100_000 + "}", '{"sparkivm":' + "9" * 5000 + "}",
    ],
    ids=range(11),
)  # fmt: skip
def test_what_is_no_frontier(text):
    assert read_frontier(text) is None


def test_of_a_key_that_is_there_twice_the_last_one_counts():
    text = FRONTIER.to_json()
    assert read_or_refused('{"base":9,' + text[1:]) == FRONTIER
    assert read_or_refused(text[:-1] + ',"base":9}') is None


@pytest.mark.parametrize(
    ("now", "same"),
    [
        (("id", 7, "transaction:a"), True),
        (("id", 7, "transaction:b"), False),
        (("id", 7, "timestamp:3"), True),  # as another driver names the commit
        (("id", 8, "transaction:a"), False),
        (("another", 7, "transaction:a"), False),
    ],
)
def test_whether_a_table_is_at_the_version_that_a_view_has_read(now, same):
    table_id, version, commit_id = now
    facts = RelationFacts(
        TableName("s", "t"), "delta", (), table_id=table_id, version=version, commit_id=commit_id
    )
    assert FRONTIER.sources["s.t"].is_version_of(facts) is same
