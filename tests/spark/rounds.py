"""Views that may never be rebuilt, through rounds of changes: the loop of the TPC benchmark tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sparkivm.refresh.sources.pins import Pins
from tests.spark.lab import Lab, View, side_by_side

# Spark sums a standard deviation in the order in which tasks end, so the last digits vary.
_DIGITS = 12


class ChangingWorld(Protocol):
    """Sources that change."""

    def change(self) -> None:
        """One round of inserts, updates and deletes."""


def refresh_all(lab: Lab, views: Sequence[View]) -> set[str]:
    """One run of all views, which read the same versions of their sources. Returns: the modes."""
    pins = Pins()
    try:
        return {result.mode for result in side_by_side(lab, views, lambda view: view.refresh(pins))}
    finally:
        pins.memory.drop(lab.engine)


def stay_equal(lab: Lab, views: Sequence[View], world: ChangingWorld, rounds: int) -> None:
    """Build the views; check them after each round of changes, and at the end their hidden columns too."""
    side_by_side(lab, views, View.build)
    for number in range(1, rounds + 1):
        world.change()
        assert refresh_all(lab, views) <= {"incremental", "no_op"}
        different = _by_name(views, side_by_side(lab, views, lambda view: view.differences(_DIGITS)))
        assert not different, f"round {number}: {different}"
    hidden = _by_name(views, side_by_side(lab, views, lambda view: view.state_differences(_DIGITS)))
    assert not hidden, hidden


def _by_name(views: Sequence[View], found: Sequence[object]) -> dict[str, object]:
    return {view.name: rows for view, rows in zip(views, found, strict=True) if rows}
