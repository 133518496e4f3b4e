"""Why a refresh took as long as a rebuild, in one sentence for a user."""

from __future__ import annotations

from benchmarks.dbt_runner import NodeRun


def not_faster(refreshed: NodeRun, rebuilt: NodeRun) -> str:
    """The reason of the refresh if it has one; else what it did in the time that a rebuild takes."""
    if refreshed.mode == "full":
        return f"it was rebuilt as well, {refreshed.reason or 'as its model asks for'}."
    if refreshed.apply_form == "recompute":
        return "its tables are so small that it was computed again, and a refresh also asks what changed."
    return (
        f"a rebuild takes only {rebuilt.seconds:.1f} s, and a refresh asks what changed, computes that, "
        f"applies it ({refreshed.apply_form}, {refreshed.rows_changed or 'no'} rows) and commits."
    )
