"""Why a refresh took as long as a rebuild, in one sentence for a user."""

from __future__ import annotations

from benchmarks.dbt_runner import NodeRun

_SHORT_S = 3.0  # below it the fixed cost of a refresh's statements is most of what there is


def not_faster(refreshed: NodeRun, rebuilt: NodeRun) -> str:
    """The reason of the refresh if it has one; else what it had to do in so short a time."""
    if refreshed.mode == "full":
        return f"it was rebuilt as well, {refreshed.reason or 'as its model asks for'}."
    if refreshed.apply_form == "recompute":
        return "its tables are so small that it was computed again, and a refresh also asks what changed."
    if rebuilt.seconds < _SHORT_S:
        return (
            f"a rebuild takes only {rebuilt.seconds:.1f} s, "
            "and a refresh always asks what changed and commits, which takes about as long."
        )
    return (
        f"the change reaches so much of it ({refreshed.rows_changed or 'no'} rows) "
        "that it costs as much as to compute all of it."
    )
