"""What a view's refreshes took, against what was estimated: the next estimates are corrected by it.

A way that was never taken is given the benefit of the doubt, and is known after it was taken once. So the
wrong choice is not made twice, whatever the machine and the data are like.

tested  tests/unit/test_learned_costs.py, tests/refresh/test_learned_costs.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from sparkivm.changes.frontier import Timing
from sparkivm.engine import Commit
from sparkivm.refresh.decide.cost import Factors
from sparkivm.refresh.stored.stored_state import StoredState

# What takes less is mostly the same for all ways, and varies from run to run.
_SHORTEST_MS = 5000
_LARGEST_FACTOR = 4.0


def factors(timing: Timing) -> Factors:
    """How many times as long as estimated each way takes."""
    known = _known(timing)
    unknown = min([1.0, *known.values()])
    return Factors(known.get("changes", unknown), known.get("full", unknown))


def learned(stored: StoredState) -> Timing:
    """The factors, with that of the refresh that made the state; it ended at the time of its commit."""
    if stored.frontier is None:
        return Timing()
    return Timing(factors=_after(stored.frontier.timing, stored.frontier_commit))


def _after(timing: Timing, commit: Commit | None) -> Mapping[str, int]:
    took_ms = commit.timestamp_ms - timing.started_ms if commit and timing.started_ms else 0
    if not timing.way or min(took_ms, timing.estimated_ms) <= 0:
        return timing.factors
    if max(took_ms, timing.estimated_ms) < _SHORTEST_MS:
        return timing.factors
    now = min(max(took_ms / timing.estimated_ms, 1 / _LARGEST_FACTOR), _LARGEST_FACTOR)
    smoothed = math.sqrt(now * _known(timing).get(timing.way, now))
    return {**timing.factors, timing.way: round(1000 * smoothed)}


def _known(timing: Timing) -> dict[str, float]:
    return {way: thousandths / 1000 for way, thousandths in timing.factors.items()}
