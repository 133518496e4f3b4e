"""A wrong choice between changes and a rebuild is not repeated."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.sources.pins import Pins
from tests.refresh.lab import Lab, View

GB = 1 << 30
BY_K = "select k, max(x) as m from t group by k"


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 2, 2)")
    lab.resize("t", 2 * GB)
    lab.resize("m__ivm", 100 << 20)
    return lab


def next_refresh(view: View, took_s: float) -> tuple[str, Reason | None]:
    """Refresh after a change and pretend that it took so long. Returns: mode and reason."""
    lab = view.lab
    lab.run("insert into t values (3, 1, 3)")
    result = view.refresh(Pins())
    assert view.differences() == []
    table = lab.delta("m__ivm")
    commit = replace(table.newest.commit, timestamp_ms=round((time.time() + took_s) * 1000))
    table.change(table.newest.number, commit=commit)
    return result.mode, result.fallback.reason if result.fallback else None


def costs(view: View) -> tuple[float, float]:
    """Estimated seconds from changes and in full."""
    view.lab.run("insert into t values (3, 1, 3)")
    words = view.explain().partition("estimated ")[2].split()
    return float(words[0]), float(words[4])


def test_what_took_longer_than_estimated_is_not_done_again(lab):
    view = lab.view("m", BY_K, refresh_mode="auto", learns_costs=True).build()
    from_changes_s, full_s = costs(view)
    assert from_changes_s < full_s
    assert next_refresh(view, 3 * full_s)[0] == "incremental"
    assert next_refresh(view, full_s / 2) == ("full", Reason.CHEAPER_IN_FULL)
    assert next_refresh(view, full_s / 2) == ("full", Reason.CHEAPER_IN_FULL)
    slow = [next_refresh(view, 20 * full_s)[0] for _ in range(4)]
    assert slow[0] == "full", "one slow run does not decide alone"
    assert "incremental" in slow


def test_what_a_refresh_is_measured_as(lab):
    """A state that is computed again says nothing about refreshes from changes."""
    lab.resize("t", 1000)
    lab.resize("m__ivm", 1000)
    view = lab.view("m", BY_K, refresh_mode="auto", learns_costs=True).build()
    assert view.frontier().timing.way == "full"
    lab.run("insert into t values (3, 1, 3)")
    result = view.must_be("incremental")
    assert (result.apply_form, view.frontier().timing.way) == ("recompute", "")
    lab.resize("t", 2 * GB)
    lab.run("insert into t values (4, 1, 4)")
    result = view.must_be("incremental")
    assert result.apply_form != "recompute"
    assert view.frontier().timing.way == "changes"


def test_refreshes_that_are_not_measured(lab):
    view = lab.view("m", BY_K, refresh_mode="auto").build()
    before = costs(view)
    assert next_refresh(view, 1000)[0] == "incremental"
    assert costs(view) == before


def test_an_edited_query_keeps_what_was_learned(lab):
    view = lab.view("m", "select id, x from t").build()
    table = lab.delta("m__ivm")
    commit = replace(table.newest.commit, timestamp_ms=round((time.time() + 60) * 1000))
    table.change(table.newest.number, commit=commit)
    view.with_(sql="select id, x, x + 1 as y from t").must_be("incremental")
    assert view.frontier().timing.rebuild_ms > 50_000


def test_a_refresh_starts_now(lab):
    before_ms = int(time.time() * 1000)
    started_ms = lab.view("m", BY_K).build().frontier().timing.started_ms
    assert before_ms <= started_ms <= time.time() * 1000


def test_a_frontier_that_is_written_again_says_nothing_new(lab):
    view = lab.view("m", BY_K, refresh_mode="auto", learns_costs=True).build()
    next_refresh(view, 60)
    factors = view.frontier().timing
    lab.grow_older("m__ivm", 20)
    assert view.refresh().mode == "no_op"
    renewed = view.frontier().timing
    assert (renewed.way, renewed.started_ms) == ("", 0)
    assert set(renewed.factors) <= {*factors.factors, "changes"}
