"""How up to date a view is, from metadata alone: its state, its last refresh, and its sources since then.

tested  tests/refresh/test_status.py, tests/unit/test_waiting.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Literal

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.engine import Commit, Engine, EngineError, RelationFacts
from sparkivm.errors import DeclarationError, ModelError, NotIncremental
from sparkivm.formats import FORMATS, STATE_FORMATS
from sparkivm.names import name_of
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.decide.learned_costs import rebuild_ms
from sparkivm.refresh.operations.history import Refresh, refresh_of, time_of
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.mirror import check_mirror_is_there
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.ownership import check_state_is_ours
from sparkivm.refresh.stored.stored_state import StoredState, all_commits, newest_frontier, read_state

Condition = Literal["current", "behind", "rebuild", "not_built", "broken"]
_MINUTE_MS = 60 * 1000
_DAY_MS = 24 * 3600 * 1000
_COMMITS_READ = 10  # to count a state's rows; more take a Spark job to read


@dataclass(frozen=True)
class SourceStatus:
    """One source, compared with the frontier.

    source          as models name it
    mirror          what is read for it, if it has a mirror; the run compares the two first
    version         that the view reflects
    newest_version  of the source; None if it cannot be read
    behind          whether the next refresh has something to read
    commits_behind  since then, that may have changed rows; 0 after a rollback to an earlier snapshot, or if
                    the source has forgotten them and the view does not need them
    changed_rows    in these commits, updates counted twice; None if they do not say
    behind_since    time of the first of them
    minutes_behind  since then
    history_days    until maintenance of the source may remove what the next refresh reads, which makes it a
                    rebuild; None if it reads nothing, if nothing is removed, or if it is a rebuild anyway
    problem         why the next refresh is a rebuild; "" without one
    """

    source: str
    mirror: str | None
    version: int
    newest_version: int | None
    behind: bool = False
    commits_behind: int = 0
    changed_rows: int | None = None
    behind_since: datetime | None = None
    minutes_behind: float | None = None
    history_days: float | None = None
    problem: str = ""


@dataclass(frozen=True)
class ViewStatus:
    """One view.

    condition        current, or behind its sources; rebuild: the next refresh is known to be one;
                     not_built; broken: users, or a refresh, cannot read it
    problem          what is wrong, and for a rebuild its reason; "" without one
    format           of the state: delta or iceberg
    incremental      whether changes of its sources can be applied; None if unknown
    rebuild_seconds  of the last rebuild; None if unknown
    saved_seconds    the same minus those of the last refresh, if that was incremental
    rows             of the state; None if its commits do not say
    """

    view: str
    model: str
    condition: Condition
    problem: str = ""
    state: str = ""
    format: str = ""
    incremental: bool | None = None
    last_refresh: Refresh | None = None
    rebuild_seconds: float | None = None
    saved_seconds: float | None = None
    rows: int | None = None
    files: int | None = None
    bytes: int | None = None
    sources: tuple[SourceStatus, ...] = ()


def view_status(engine: Engine, request: RefreshRequest, pins: Pins, now_ms: int) -> ViewStatus:
    """What is known of a view without running it, or compiling its SQL.

    pins  share what is found out about sources between views
    """
    unknown = ViewStatus(str(request.view), request.owner.model, "broken", state=str(request.state))
    try:
        return _status(RecordingEngine(engine), request, pins, now_ms, unknown)
    except (EngineError, ModelError) as error:
        return replace(unknown, problem=str(error))


def _status(
    engine: RecordingEngine, request: RefreshRequest, pins: Pins, now_ms: int, found: ViewStatus
) -> ViewStatus:
    stored = read_state(engine, request)
    sources = Sources.of(engine, pins, request, captures=False)
    public = PublicView(engine, sources, request)
    if stored.facts is None:
        if public.moved is None:
            return replace(found, condition="not_built", problem=str(stored.problem))
        return replace(found, condition="rebuild", problem=str(public.moved))
    check_state_is_ours(engine, request, stored.facts)
    public.check_name()
    found = _with_state(engine, stored, stored.facts, found)
    if stored.built_empty:
        return replace(found, condition="not_built", problem=str(stored.problem))
    if not public.is_there:
        return replace(found, problem=f"its public view {request.view} is missing; run the model")
    if stored.frontier is None:
        return replace(found, condition="rebuild", problem=str(stored.problem))
    known = stored.frontier.sources
    sources.look_ahead(name_of(source.name) for source in known.values())
    incremental = stored.frontier.kind != "full"
    read = tuple(
        _source(engine, sources, known[key], now_ms, needs_history=incremental) for key in sorted(known)
    )
    found = replace(found, incremental=incremental, sources=read)
    problem = next((source.problem for source in read if source.problem), "")
    if problem:
        return replace(found, condition="rebuild", problem=problem)
    return replace(found, condition="behind" if any(one.behind for one in read) else "current")


def _with_state(engine: Engine, stored: StoredState, state: RelationFacts, found: ViewStatus) -> ViewStatus:
    """Sizes, and the last refresh."""
    found = replace(found, format=state.kind, files=state.files, bytes=state.size_bytes)
    format = STATE_FORMATS.get(state.kind)
    if format is None:
        return found
    commits = list(islice(all_commits(engine, state), _COMMITS_READ))
    found = replace(found, rows=format.rows(format.line(state, commits)))
    commit, frontier = stored.frontier_commit, stored.frontier
    if commit is None or frontier is None:
        newest = newest_frontier(engine, state)  # of a state that cannot be refreshed incrementally
        if newest is None:
            return found
        commit, frontier = newest
    last, rebuild_s = refresh_of(format, commit, frontier), rebuild_ms(frontier, commit) / 1000 or None
    saved_s = None
    if last.mode == "incremental" and rebuild_s is not None and last.seconds is not None:
        saved_s = round(rebuild_s - last.seconds, 3)
    return replace(found, last_refresh=last, rebuild_seconds=rebuild_s, saved_seconds=saved_s)


def _source(
    engine: Engine, sources: Sources, known: SourceFrontier, now_ms: int, *, needs_history: bool
) -> SourceStatus:
    """needs_history  whether a refresh reads changes: one that is always a rebuild does not"""
    unread = SourceStatus(known.name, None, known.version, None)
    try:
        facts = sources.facts(name_of(known.name))
        if facts is None or facts.kind not in FORMATS:
            what = f"there is no table {known.name} with versions any more"
            return replace(unread, problem=str(Fallback(Reason.SOURCE_REPLACED, what)))
        mirror = str(facts.name) if facts.mirror_of is not None else None
        unread = replace(unread, mirror=mirror, newest_version=facts.version)
        if facts.at == known.at:
            return unread
        check_mirror_is_there(facts)
        found = _compared(facts, known, engine.commits(facts.name, known.version - 1), now_ms, unread)
        return found if needs_history else replace(found, history_days=None)
    except NotIncremental as error:
        if error.fallback.reason is Reason.HISTORY_UNAVAILABLE and not needs_history:
            return replace(unread, behind=True)
        return replace(unread, problem=str(error.fallback))
    except DeclarationError as error:
        return replace(unread, problem=str(error))


def _compared(
    facts: RelationFacts, known: SourceFrontier, commits: Sequence[Commit], now_ms: int, found: SourceStatus
) -> SourceStatus:
    """Raises: NotIncremental if the changes cannot be read."""
    format = FORMATS[facts.kind]
    change = format.change(facts, known, commits)
    if change.how == "none":
        return found
    found = replace(found, behind=True, changed_rows=change.rows if change.counted else None)
    waiting = format.waiting(facts, known, commits)
    if waiting.kept_until_ms is not None:
        found = replace(found, history_days=_between(now_ms, waiting.kept_until_ms, _DAY_MS))
    if not waiting.commits:
        return found
    first = waiting.commits[0]
    return replace(
        found,
        commits_behind=len(waiting.commits),
        behind_since=time_of(first),
        minutes_behind=_between(first.timestamp_ms, now_ms, _MINUTE_MS),
    )


def _between(start_ms: int, end_ms: int, unit_ms: int) -> float:
    """In units; 0 if the end is before the start."""
    return round(max(0, end_ms - start_ms) / unit_ms, 2)
