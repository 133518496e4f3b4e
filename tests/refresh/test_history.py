"""What the commits of a state tell about the refreshes that made them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.errors import ModelError
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.history import Refresh, history
from tests.refresh.conftest import BY_K
from tests.refresh.lab import View


def of(view: View, limit: int = 20) -> list[Refresh]:
    return history(view.lab.engine, view.request, limit)


def test_each_refresh_with_its_mode_and_rows(lab, view):
    lab.run("insert into t values (4, 3, 8)", "delete from t where id = 1")
    view.must_be("incremental")
    view.must_be("no_op")
    view.with_(sql="select k, max(x) as m from t group by k").must_be("full", Reason.QUERY_CHANGED)
    third, second, first = of(view)
    assert [(one.mode, one.form) for one in (first, second, third)] == [
        ("create", "create"), ("incremental", "append"), ("full", "rebuild"),
    ]  # fmt: skip
    assert (third.reason, third.detail) == ("QUERY_CHANGED", "the model's SQL changed")
    assert first.reason == second.reason == ""
    assert (first.rows_inserted, second.rows_inserted) == (2, 2)
    assert first.at < second.at < third.at
    assert [one.version for one in (first, second, third)] == [0, 1, 2]
    assert of(view, limit=1) == [third]


def test_a_view_that_is_not_incremental_says_why(lab):
    view = lab.view("m", "select k, rand() as r from t")
    view.refresh()
    (found,) = of(view)
    assert (found.mode, found.reason) == ("create", "NON_DETERMINISTIC_EXPRESSION")
    assert "rand" in found.detail


def test_an_edited_query_that_kept_its_rows(lab):
    lab.view("m", "select id, x from t").build()
    lab.view("m", "select id, x, x + 1 as y from t").must_be("incremental")
    edited, first = of(lab.view("m", ""))
    assert (edited.mode, edited.reason, edited.detail) == (
        "edited", "QUERY_CHANGED", "compute y from the stored columns",
    )  # fmt: skip
    assert first.mode == "create"


def test_what_is_no_refresh_is_left_out(lab, view):
    lab.run("optimize m__ivm", "alter table m__ivm set tblproperties (a = 'b')")
    assert len(of(view)) == 1


def test_a_frontier_that_was_written_again(lab, view):
    lab.grow_older("m__ivm", 20)
    view.must_be("no_op")
    assert [one.mode for one in of(view)] == ["no_op", "create"]


def test_a_refresh_by_another_version_of_the_package(lab, view):
    table = lab.delta(view.state)
    metadata = table.newest.commit.user_metadata.replace('"sparkivm":', '"sparkivm":1')
    table.change(0, commit=replace(table.newest.commit, user_metadata=metadata))
    (found,) = of(view)
    assert (found.mode, found.rows_inserted, found.seconds) == ("unknown", None, None)


def test_seconds_are_those_until_the_commit(lab, view):
    """The clock of the fake tables is not that of the refresh, so a time is set."""
    table = lab.delta(view.state)
    started_ms = view.frontier().timing.started_ms
    assert started_ms > 0
    table.change(0, commit=replace(table.newest.commit, timestamp_ms=started_ms + 1500))
    assert of(view)[0].seconds == 1.5


def test_a_view_that_is_not_built(lab):
    with pytest.raises(ModelError, match="run the model"):
        of(lab.view("m", BY_K))


def test_a_state_whose_versions_cannot_be_read(lab, view, monkeypatch):
    """As of an Iceberg table whose metadata is compressed."""
    described = lab.engine.describe

    def without_versions(name):
        facts = described(name)
        return replace(facts, kind="other") if facts and name == view.request.state else facts

    monkeypatch.setattr(lab.engine, "describe", without_versions)
    with pytest.raises(ModelError, match="cannot be read"):
        of(view)
