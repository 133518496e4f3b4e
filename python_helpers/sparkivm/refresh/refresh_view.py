"""One refresh, from the request to the result. Data flows one way; the state changes in one commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from sparkivm.changes.frontier import Frontier, Outcome
from sparkivm.digest import digest
from sparkivm.engine import Engine, EngineError, is_another
from sparkivm.errors import ModelError
from sparkivm.names import TableName, name_of, quoted
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.changed_rows.run_memory import Memory, ViewMemory
from sparkivm.refresh.decide.decide import decide
from sparkivm.refresh.decide.evolution import Evolution, evolution
from sparkivm.refresh.decide.learned_costs import learned
from sparkivm.refresh.decide.reason_to_rebuild import reason_to_rebuild
from sparkivm.refresh.decide.shared_joins import find_shared_joins
from sparkivm.refresh.model.model_query import check_is_query, query_text
from sparkivm.refresh.observation import Observation, observe
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import RefreshResult
from sparkivm.refresh.run.attempt import Attempt
from sparkivm.refresh.run.clone import clone
from sparkivm.refresh.run.from_changes import apply_changes
from sparkivm.refresh.run.rebuild import build_empty, drop_former_state, rebuild, replace_state
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.session.session_settings import refuse_lossy_settings, semantic_settings
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.source_catalog import has_same_meaning
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.commit import Conflict
from sparkivm.refresh.stored.stored_state import StoredState
from sparkivm.spark_sql.relations import select_text

_MOST_TRIES = 4
_DAY_MS = 24 * 3600 * 1000
_HALF_LOG_RETENTION_MS = 15 * _DAY_MS  # half of Delta's default, 30 days


def refresh_view(engine: Engine, request: RefreshRequest, pins: Pins) -> RefreshResult:
    """Bring a view up to date with its sources.

    Raises: ModelError for errors of the model, before anything is changed; or if the refresh fails in Spark,
    and then the view keeps its contents.
    """

    def refreshed(recording: RecordingEngine) -> RefreshResult:
        text = query_text(recording, request.view, request.sql)
        return _first_success(recording, replace(request, sql=text), pins, _attempted)

    return _recorded(engine, refreshed)


def clone_view(
    engine: Engine, request: RefreshRequest, pins: Pins, origin: TableName, clones: Mapping[str, str]
) -> RefreshResult:
    """Create or replace a view as a copy of another environment's.

    request  of the view here, whose SQL does not matter
    clones   keys of states of the project: the clone → its origin
    Raises: CannotClone, before anything is changed; ModelError; EngineError.
    """
    one = partial(clone, origin=origin, clones=clones)
    return _recorded(engine, lambda recording: _first_success(recording, request, pins, one))


def _recorded(engine: Engine, run: Callable[[RecordingEngine], RefreshResult]) -> RefreshResult:
    started = time.perf_counter()
    recording = RecordingEngine(engine)
    result = run(recording)
    seconds = time.perf_counter() - started
    return replace(
        result,
        statements=tuple(recording.statements),
        warnings=tuple(dict.fromkeys(recording.warnings)),  # another attempt may repeat them
        compile_s=seconds - recording.waited_s,
    )


def _first_success(
    engine: RecordingEngine,
    request: RefreshRequest,
    pins: Pins,
    run: Callable[[Attempt], RefreshResult],
) -> RefreshResult:
    """The result of the first attempt without a conflict."""
    refuse_lossy_settings(engine, request.view)
    for number in range(_MOST_TRIES):
        sources = Sources.of(engine, pins, request)
        try:
            asked = replace(request, sql=sources.model_text(request.view, request.sql))
            again = partial(_first_success, engine, pins=pins, run=_attempted)
            return run(Attempt(engine, asked, sources, again, started_ms=int(time.time() * 1000)))
        except Conflict:
            sources.forget(request.state)
            if number + 1 < _MOST_TRIES:
                time.sleep(0.2 * 2**number)
    raise ModelError(
        request.view,
        f"{Fallback(Reason.REFRESH_CONFLICT)} ({_MOST_TRIES} attempts)",
        Reason.REFRESH_CONFLICT.way_out,
    )


def _attempted(attempt: Attempt) -> RefreshResult:
    """Observe, decide, run."""
    engine, request = attempt.engine, attempt.request
    stored = attempt.stored()
    check_is_query(engine, attempt.view, request.sql, stored.frontier)
    if request.empty:
        return build_empty(attempt, stored)
    if stored.frontier is not None and stored.frontier.drops_auxiliaries:
        attempt.auxiliaries.drop_from(len(stored.frontier.auxiliaries) + 1)  # after a killed refresh
    if stored.frontier is not None and stored.frontier.former_state and attempt.public.former_state is None:
        drop_former_state(attempt, name_of(stored.frontier.former_state))  # likewise; no view reads it
    settings = semantic_settings(engine, request.header, request.stamp_columns)
    _never_go_back(attempt, stored)
    if stored.frontier is not None and _nothing_changed(attempt, stored, settings):
        assert stored.facts is not None
        frontier = _renewed(attempt, stored, stored.frontier, _HALF_LOG_RETENTION_MS)
        attempt.keep_snapshots(frontier, stored.facts)
        return attempt.result("no_op", explanation="no source changed")
    if stored.facts is not None:
        engine.expect_commit(attempt.state)

    if stored.frontier is not None:
        find_shared_joins(attempt.sources, request, stored.frontier)
    auxiliaries = attempt.auxiliaries.of_state(stored.frontier)
    seen = observe(engine, attempt.sources, request, stored, settings, attempt.public, auxiliaries)
    attempt.auxiliaries.check_sources()
    attempt.sources.check_operations(seen.compiled.tables, stored.frontier)
    if attempt.auxiliaries.failure is not None:
        return rebuild(attempt, seen, attempt.auxiliaries.failure)
    why = reason_to_rebuild(seen)
    if why is not None and (evolved := _evolved(attempt, seen, why)) is not None:
        return evolved
    if why is None:
        former = attempt.public.former_state
        found = _caught_up(attempt, seen)
        if isinstance(found, RefreshResult):
            if former is not None:
                drop_former_state(attempt, former)  # made by a run under another configuration, then killed
            return found
        why = found
    return rebuild(attempt, seen, why)


def _evolved(attempt: Attempt, seen: Observation, why: Fallback) -> RefreshResult | None:
    """The refresh of an edited query whose stored rows are enough; None if they are not."""
    found = evolution(seen, why)
    if found is None:
        return None
    try:
        frontier = _evolve(attempt, found)
    except EngineError as error:
        attempt.engine.warn(f"its state is computed again: {found.label} failed: {error}")
        return None
    if found.content is not None:
        attempt.move_snapshots(frontier, found.seen.stored)
    result = _attempted(replace(attempt))  # as after any commit
    mode = "incremental" if result.mode == "no_op" else result.mode
    return replace(
        result, mode=mode, explanation=f"the query was edited: {found.label}; {result.explanation}"
    )


def _evolve(attempt: Attempt, evolution: Evolution) -> Frontier:
    """Commit the frontier of the edited query, with the new columns if there are any. A refresh follows.

    Returns: the frontier.
    Raises: EngineError, with the state unchanged; Conflict.
    """
    seen = evolution.seen
    stored, old = seen.stored, seen.frontier
    frontier = replace(
        attempt.frontier(seen, old),
        timing=attempt.timing(seen, "", 0),
        outcome=Outcome("edited", reason=Reason.QUERY_CHANGED.name, detail=evolution.label),
    )
    if evolution.content is not None:
        select = select_text(evolution.content, attempt.texts(seen))
        replace_state(attempt, stored, frontier, select, seen.compiled)
        return frontier
    frontier = replace(
        frontier, base=stored.version, several=old.several, appended=old.appended, columns=old.columns
    )
    columns = [quoted(field.name) for field in seen.state.fields]
    write = attempt.format.unchanged(attempt.state, columns, {"sparkivm.query": frontier.text})
    attempt.commit(stored, frontier, write)
    return frontier


def _caught_up(attempt: Attempt, seen: Observation) -> RefreshResult | Fallback:
    """What was done to catch up with the sources, or why the view has to be rebuilt."""
    known = seen.frontier
    try:
        decision = decide(attempt.engine, seen, _memory(attempt, seen))
        if decision.fallback is not None:
            return decision.fallback
        published = apply_changes(attempt, seen, decision) if decision.way is not None else None
    except (EngineError, RecursionError) as error:
        # Old files may be gone, or the delta may be nested too deeply.
        if attempt.request.refresh_mode == "strict":
            what = f"the refresh from changes failed: {error}"
            do = "correct the cause, which logs/dbt.log shows in full; --full-refresh rebuilds the view once"
            raise ModelError(attempt.view, what, do) from error
        return Fallback(Reason.REFRESH_FAILED, str(error))
    if published is not None:
        return published()
    moved = attempt.frontier(seen, known)
    # Otherwise the next refreshes would read the same changes until their files are gone.
    limit_ms = _DAY_MS if moved.sources != known.sources else _HALF_LOG_RETENTION_MS
    frontier = _renewed(attempt, seen.stored, replace(known, sources=moved.sources), limit_ms)
    attempt.publish(seen, known, seen.state)
    attempt.keep_snapshots(frontier, seen.state)
    seen_at = {key: table.at for key, table in seen.compiled.tables.items()}
    return replace(attempt.result("no_op", explanation="no row of a source changed"), seen_at=seen_at)


def _never_go_back(attempt: Attempt, stored: StoredState) -> None:
    """Look again at sources, and at the time, if another driver's refresh read later ones than this run saw.

    A table that was created again, or restored, may be the newer or the older one.
    """
    if stored.frontier is None:
        return
    attempt.sources.not_before(stored.frontier.moments)
    for source in stored.frontier.sources.values():
        name = name_of(source.name)
        seen = attempt.sources.seen(name)
        if seen is None or seen.table_id != source.table_id:
            attempt.sources.look_again_for(name, source.table_id)
        elif seen.version < source.version:
            attempt.sources.forget(seen.source)
        elif seen.version == source.version and is_another(seen.commit_id, source.commit_id):
            attempt.sources.look_again_for(name, source.commit_id)


def _nothing_changed(attempt: Attempt, stored: StoredState, settings: Mapping[str, str]) -> bool:
    """Whether text, settings, view and all sources are the frontier's; does not compile."""
    frontier = stored.frontier
    assert frontier is not None
    if (
        attempt.request.full_refresh
        or attempt.request.refresh_mode == "full"
        or frontier.text != digest(attempt.request.sql)
        or dict(frontier.settings) != dict(settings)
        or not frontier.deterministic
    ):
        return False
    names = [source.name for source in frontier.sources.values()]
    attempt.sources.look_ahead(map(name_of, (*names, *frontier.views)))
    for source in frontier.sources.values():
        now = attempt.sources.known(name_of(source.name))
        if now is None or now.at != source.at:
            return False
    if frontier.moments != attempt.sources.moments(frontier.moments):
        return False
    return has_same_meaning(attempt.sources, frontier) and attempt.public.is_as_left(frontier)


def _renewed(attempt: Attempt, stored: StoredState, frontier: Frontier, limit_ms: int) -> Frontier:
    """Write the frontier again before Delta's log clean-up removes the commit that holds it.

    frontier  to write
    limit_ms  the allowed age of that commit
    Returns: the frontier that the state has now.
    """
    commit = stored.frontier_commit
    assert stored.frontier is not None
    now_ms = time.time() * 1000
    if commit is None or now_ms - commit.timestamp_ms < limit_ms:
        return stored.frontier
    if not attempt.engine.commits(attempt.state, stored.version - 1):
        return stored.frontier
    assert stored.facts is not None
    columns = [quoted(field.name) for field in stored.facts.fields]
    write = attempt.format.unchanged(attempt.state, columns, {"sparkivm.renewed": str(int(now_ms))})
    if attempt.public.former_state is None:  # this run has dropped what a rebuild left
        frontier = replace(frontier, former_state="", drops_auxiliaries=False)
    renewed = replace(frontier, base=stored.version, timing=learned(stored), outcome=Outcome("no_op"))
    attempt.commit(stored, renewed, write)
    return frontier


def _memory(attempt: Attempt, seen: Observation) -> Memory:
    return ViewMemory(
        attempt.sources.memory, attempt.engine, seen.compiled.tables, seen.settings,
        seen.request.shared_relations,
    )  # fmt: skip
