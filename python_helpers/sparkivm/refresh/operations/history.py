"""The refreshes of a view, from the commits of its state.

tested  tests/refresh/test_history.py, tests/dbt/test_command.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import islice

from sparkivm.changes.frontier import Frontier, OtherFormat, read_frontier
from sparkivm.engine import Commit, Engine, RelationFacts
from sparkivm.errors import ModelError
from sparkivm.formats import STATE_FORMATS
from sparkivm.formats.state_format import StateFormat
from sparkivm.refresh.decide.learned_costs import duration_ms
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.stored.ownership import check_state_is_ours
from sparkivm.refresh.stored.stored_state import all_commits

OTHER_VERSION = "unknown"  # mode of a refresh by another version of the package


@dataclass(frozen=True)
class Refresh:
    """One refresh that committed to the state.

    at       when it committed
    version  of the state
    mode     create, full or incremental; clone if `dbt clone` made it; edited if it kept the rows of an
             edited query; no_op if it only wrote the frontier again; or unknown
    form     the apply form
    reason   code of the reason for a rebuild or an edit, with its details; "" without one
    rows_…   of the state; None if the commit does not say
    seconds  from its start to its commit; None if unknown
    """

    at: datetime
    version: int
    mode: str
    form: str
    reason: str
    detail: str
    rows_inserted: int | None
    rows_updated: int | None
    rows_deleted: int | None
    seconds: float | None


def history(engine: Engine, request: RefreshRequest, limit: int) -> list[Refresh]:
    """The last refreshes of a view, newest first. A refresh that found nothing to do leaves no commit.

    Raises: ModelError if the view has no state.
    """
    state = built_state(engine, request)
    format = STATE_FORMATS[state.kind]
    made = (
        refresh_of(format, commit, frontier)
        for commit in all_commits(engine, state)
        if not format.is_compaction(commit)
        for frontier in frontiers_in(commit)
    )
    return list(islice(made, limit))


def built_state(engine: Engine, request: RefreshRequest) -> RelationFacts:
    """The state of a view. Raises: ModelError if there is none, or if it belongs to somebody else."""
    state = engine.describe(request.state)
    if state is None:
        raise ModelError(request.view, f"it has no state {request.state}", "run the model")
    check_state_is_ours(engine, request, state)
    if state.kind not in STATE_FORMATS:
        raise ModelError(request.view, f"the versions of {state.name} cannot be read", "run the model")
    return state


def frontiers_in(commit: Commit) -> Iterator[Frontier | None]:
    """The frontier in a commit, if it has one; None for one of another format."""
    try:
        if (frontier := read_frontier(commit.user_metadata)) is not None:
            yield frontier
    except OtherFormat:
        yield None


def refresh_of(format: StateFormat, commit: Commit, frontier: Frontier | None) -> Refresh:
    at = time_of(commit)
    if frontier is None:
        return Refresh(at, commit.version, OTHER_VERSION, "", "", "", None, None, None, None)
    done, rows, ms = frontier.outcome, format.row_counts(commit), duration_ms(frontier.timing, commit)
    return Refresh(
        at=at,
        version=commit.version,
        mode=done.mode or OTHER_VERSION,
        form=done.form,
        reason=done.reason,
        detail=done.detail,
        rows_inserted=rows.inserted,
        rows_updated=rows.updated,
        rows_deleted=rows.deleted,
        seconds=ms / 1000 if ms else None,
    )


def time_of(commit: Commit) -> datetime:
    return datetime.fromtimestamp(commit.timestamp_ms / 1000, timezone.utc)
