"""Corrects estimates by the real times of the view's earlier refreshes.

If only one way was ever taken, half of its deviation (of the logarithm) is ascribed to the machine, and so
expected of the other way too. Once both were taken, both are known. So a wrong choice is not repeated.

tested  tests/unit/test_learned_costs.py, tests/refresh/test_learned_costs.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from sparkivm.changes.frontier import Frontier, Timing
from sparkivm.engine import Commit
from sparkivm.refresh.decide.cost import Factors
from sparkivm.refresh.stored.stored_state import StoredState

# Shorter times are mostly overhead that all ways share, and vary from run to run.
_SHORTEST_MS = 5000
_LARGEST_FACTOR = 4.0


def factors(timing: Timing) -> Factors:
    """For each way, its real time divided by the estimate."""
    known = _known(timing)
    unknown = math.sqrt(next(iter(known.values()), 1.0))
    return Factors(known.get("changes", unknown), known.get("full", unknown))


def learned(stored: StoredState) -> Timing:
    """The factors, updated by the refresh that made the state; it ended with its commit."""
    frontier, commit = stored.frontier, stored.frontier_commit
    if frontier is None:
        return Timing()
    return Timing(factors=_after(frontier.timing, commit), rebuild_ms=rebuild_ms(frontier, commit))


def duration_ms(timing: Timing, commit: Commit | None) -> int:
    """How long the refresh with this timing took until its commit; 0 if unknown."""
    return max(0, commit.timestamp_ms - timing.started_ms) if commit and timing.started_ms else 0


def rebuild_ms(frontier: Frontier, commit: Commit | None) -> int:
    """How long the newest rebuild of the state took; 0 if unknown."""
    rebuilt = frontier.outcome.mode in ("create", "full")
    return duration_ms(frontier.timing, commit) if rebuilt else frontier.timing.rebuild_ms


def _after(timing: Timing, commit: Commit | None) -> Mapping[str, int]:
    took_ms = duration_ms(timing, commit)
    if not timing.way or min(took_ms, timing.estimated_ms) <= 0:
        return timing.factors
    if max(took_ms, timing.estimated_ms) < _SHORTEST_MS:
        return timing.factors
    now = min(max(took_ms / timing.estimated_ms, 1 / _LARGEST_FACTOR), _LARGEST_FACTOR)
    smoothed = math.sqrt(now * _known(timing).get(timing.way, now))
    return {**timing.factors, timing.way: round(1000 * smoothed)}


def _known(timing: Timing) -> dict[str, float]:
    return {way: thousandths / 1000 for way, thousandths in timing.factors.items()}
