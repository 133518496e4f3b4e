"""Reports: their JSON, what changed between two, and the policies."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sparkivm.check.comparison import changes_between, violations
from sparkivm.check.report import Cause, Edit, ModelReport, Report, cause_of, not_checked
from sparkivm.errors import DeclarationError, ModelError
from sparkivm.reasons import Fallback, Place, Reason

RANDOM = Cause(
    "NON_DETERMINISTIC_EXPRESSION",
    "rand returns a different value each time it is computed",
    "compute it elsewhere",
    3,
    5,
    "rand()",
)
BROKEN = Cause("NOT_CHECKED", "there is no table shop.t", "create it")


def model(name: str, cause: Cause | None = None, **others: Any) -> ModelReport:
    verdict = "incremental" if cause is None else "unknown" if cause.code == "NOT_CHECKED" else "full"
    found = ModelReport(
        f"model.p.{name}", name, f"models/{name}.sql", f"shop.{name}", "table", verdict, cause
    )
    return replace(found, **others)


def report(*models: ModelReport) -> Report:
    return Report("p", "0.1.0", models)


def test_json_and_back():
    edits = (
        Edit("is_incremental() is false", "remove it", (4, 7)),
        Edit("it ignores unique_key", "correct it"),
    )
    found = report(model("a"), model("b", RANDOM, edits=edits, remarks=("a note",)), model("c", BROKEN))
    assert Report.of(json.loads(json.dumps(found.json))) == found
    assert found.counts == {"incremental": 1, "full": 1, "unknown": 1}


def test_fields_of_a_later_version_are_accepted():
    """The version of the JSON stays the same when a field is added."""
    edits = (Edit("is_incremental() is false", "remove it", (4, 7)),)
    found = report(model("b", RANDOM, edits=edits))
    later = json.loads(json.dumps(found.json))
    (one,) = later["models"]
    for part in (later, one, one["cause"], one["edits"][0]):
        part["severity"] = "new"
    assert Report.of(later) == found


@pytest.mark.parametrize(
    "found",
    [
        [],
        {},
        {"version": 2, "models": []},
        {"version": 1, "models": [{}]},
        {"version": 1, "models": ["x"]},
        {"version": 1, "models": [{"edits": [], "cause": "x"}]},
        None,
        "x",
    ],
)
def test_what_is_no_report(found):
    with pytest.raises(ValueError, match=r"^it (has version 2, not 1|is not a report)"):
        Report.of(found)


SQL = "select id,\n  rand() as r\nfrom shop.t"


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ("{{ config(x=1) }}\nselect id,\nrand() as r\nfrom {{ ref('t') }}", 3),
        ("select id,\n{{ random() }} as r", None),
        ("rand() as r\nrand() as r", None),
    ],
)
def test_the_line_in_the_file(raw, line):
    place = Place(2, 3, "rand()")
    expected = Cause("SQL_NOT_UNDERSTOOD", "why", Reason.SQL_NOT_UNDERSTOOD.way_out, 2, 3, "rand()", line)
    assert cause_of(Fallback(Reason.SQL_NOT_UNDERSTOOD, "why", place), SQL, raw) == expected
    error = ModelError("m", "why", Reason.SQL_NOT_UNDERSTOOD.way_out, place)
    assert not_checked(error, SQL, raw) == replace(expected, code="NOT_CHECKED")


def test_causes_without_place():
    general = cause_of(Fallback(Reason.SQL_NOT_UNDERSTOOD), SQL, "")
    assert (general.what, general.line) == (Reason.SQL_NOT_UNDERSTOOD.happened, None)
    declared = not_checked(DeclarationError("shop.t", "no key", "declare it"), SQL, "")
    assert (declared.what, declared.do) == ("source shop.t: no key", "declare it")


CHANGES = {
    "nothing": (model("m"), model("m"), None),
    "became full": (model("m"), model("m", RANDOM), "regression"),
    "became unknown": (model("m"), model("m", BROKEN), "regression"),
    "became incremental": (model("m", RANDOM), model("m"), None),
    "other reason": (
        model("m", RANDOM),
        model("m", replace(RANDOM, what="uuid returns a different value each time it is computed")),
        None,
    ),
    "another place only": (model("m", RANDOM), model("m", replace(RANDOM, line=9)), None),
    "became full, from unknown": (model("m", BROKEN), model("m", RANDOM), None),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change(kind):
    was, now, policy = CHANGES[kind]
    found = changes_between(report(was), report(now))
    expected = [] if kind in ("nothing", "another place only") else [(kind.split(",")[0], now, was.verdict)]
    assert [(change.kind, change.model, change.before) for change in found] == expected
    assert violations("regression", report(now), found) == ([now] if policy else [])


def test_new_and_removed_models():
    earlier, now = report(model("a"), model("b"), model("c")), report(model("c"), model("d", RANDOM))
    found = changes_between(earlier, now, left_out=["model.p.b"])
    assert [(change.kind, change.model.name) for change in found] == [("new", "d"), ("removed", "a")]
    assert violations("regression", now, found) == []


def test_full_is_what_is_not_known_to_be_incremental():
    found = report(model("a"), model("b", RANDOM), model("c", BROKEN))
    assert [one.name for one in violations("full", found, ())] == ["b", "c"]
