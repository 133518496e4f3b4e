"""How measured times of earlier refreshes correct an estimate, separately for each way to refresh."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.frontier import Frontier, Timing
from sparkivm.engine import Commit
from sparkivm.refresh.decide.cost import Factors
from sparkivm.refresh.decide.learned_costs import factors, learned
from sparkivm.refresh.stored.stored_state import StoredState

FRONTIER = Frontier("p", "m", "v", "group", "", "", {}, {})
STARTED_MS = 1_700_000_000_000


def after(timing: Timing, took_s: float) -> dict[str, int]:
    """The known factors after a refresh that took this long."""
    commit = Commit(1, STARTED_MS + round(1000 * took_s), "WRITE", {}, {}, None)
    stored = StoredState(None, replace(FRONTIER, timing=timing), None, commit)
    found = learned(stored)
    assert (found.way, found.started_ms) == ("", 0), "we learn once from each refresh"
    return dict(found.factors)


def refresh(way: str, estimated_s: float, **known: int) -> Timing:
    return Timing(way, round(1000 * estimated_s), STARTED_MS, known)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("estimated_s", "took_s", "factor"),
    [
        (10, 20, 2000),
        (10, 5, 500),
        (1, 100, 4000),  # capped
        (100, 1, 250),
        (2, 5, 2500),
        (2, 4.9, None),  # too short to measure
        (5, 4, 800),
        (10, -1, None),  # the clocks differ
        (0, 10, None),
    ],
)
def test_how_many_times_as_long_as_estimated(estimated_s, took_s, factor):
    assert after(refresh("full", estimated_s), took_s) == ({} if factor is None else {"full": factor})


def test_each_way_by_itself():
    assert after(refresh("changes", 10, full=3000), 20) == {"changes": 2000, "full": 3000}


def test_one_slow_run_is_not_all_that_counts():
    assert after(refresh("full", 10, full=1000), 40) == {"full": 2000}


def test_a_refresh_that_was_not_measured():
    assert after(replace(refresh("full", 10, full=3000), started_ms=0), 20) == {"full": 3000}
    assert after(refresh("", 10, full=3000), 20) == {"full": 3000}


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, Factors(1, 1)),
        (
            {"full": 4000},
            Factors(2, 4),
        ),  # so that the way never taken is tried, but not by all views of a slow machine
        ({"full": 250}, Factors(0.5, 0.25)),
        ({"changes": 2250}, Factors(2.25, 1.5)),
        ({"changes": 2000, "full": 3000}, Factors(2, 3)),
    ],
)
def test_what_is_expected_of_a_way_that_was_never_taken(known, expected):
    assert factors(Timing(factors=known)) == expected


def test_no_state():
    assert learned(StoredState(None, None, None)) == Timing()


def test_a_state_whose_commit_is_not_known():
    timing = refresh("full", 10, full=3000)
    found = learned(StoredState(None, replace(FRONTIER, timing=timing), None))
    assert (found.factors, found.rebuild_ms) == ({"full": 3000}, 0)
