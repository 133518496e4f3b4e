"""Why a refresh took as long as a rebuild, in one sentence for a user."""

from __future__ import annotations

from benchmarks.dbt_runner import NodeRun
from sparkivm.reasons import Reason


def not_faster(refreshed: NodeRun, rebuilt: NodeRun) -> str:
    """The reason for the rebuild if it was rebuilt; otherwise what the refresh did in that time."""
    if refreshed.mode == "full":
        code = refreshed.reason_code
        if not code:
            return "its model requests a rebuild."
        detail = refreshed.reason.removeprefix(code).removeprefix(": ")
        why = Reason[code].happened
        return f"it was rebuilt too, because {why}{f' ({detail})' if detail and detail != why else ''}."
    if refreshed.apply_form == "recompute":
        return "its tables are small, so it was computed again as a whole after checking what changed."
    return (
        f"a rebuild takes only {rebuilt.seconds:.1f} s. The refresh reads the changes, computes the delta "
        f"and applies {refreshed.rows_changed or 'no'} rows by {refreshed.applied_by}."
    )
