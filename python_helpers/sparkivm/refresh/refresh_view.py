"""One refresh, from the request to the result. Data flows one way; the state changes in one commit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from sparkivm.algebra import Scan
from sparkivm.algebra.columns_read import columns_read
from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Engine, EngineError, is_another
from sparkivm.errors import ModelError
from sparkivm.names import name_of, state_table
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.attempt import Attempt
from sparkivm.refresh.commit import Conflict
from sparkivm.refresh.compiled_view import CompiledView
from sparkivm.refresh.decide import decide
from sparkivm.refresh.from_changes import refresh_from_changes
from sparkivm.refresh.metered_engine import MeteredEngine
from sparkivm.refresh.model_query import check_is_query, query_text
from sparkivm.refresh.ownership import check_state_is_ours
from sparkivm.refresh.pins import Pins
from sparkivm.refresh.reason_to_rebuild import reason_to_rebuild
from sparkivm.refresh.rebuild import build_empty, rebuild, rebuild_after
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import RefreshResult
from sparkivm.refresh.run_memory import Memory, ViewMemory
from sparkivm.refresh.session_settings import refuse_lossy_settings, semantic_settings
from sparkivm.refresh.source_catalog import digest, view_hash
from sparkivm.refresh.sources import Sources
from sparkivm.refresh.stored_state import StoredState, read_state

_MOST_TRIES = 4
_DAY_MS = 24 * 3600 * 1000
_HALF_LOG_RETENTION_MS = 15 * _DAY_MS  # of Delta's default of 30 days


def refresh_view(engine: Engine, request: RefreshRequest, pins: Pins) -> RefreshResult:
    """Bring a view up to date with its sources.

    Raises: ModelError, before anything is changed, for what the model's author has to correct; or if Spark
    fails the refresh, in which case the view keeps its contents.
    """
    sql = request.sql if request.auxiliary else query_text(engine, request.view, request.sql)
    refuse_lossy_settings(engine, str(request.view))
    for number in range(_MOST_TRIES):
        metered = MeteredEngine(engine)
        sources = Sources(metered, pins, request.declared, request.view.schema)
        try:
            asked = replace(request, sql=sources.model_text(request.view, sql))
            return _attempted(Attempt(metered, asked, sources, partial(refresh_view, metered, pins=pins)))
        except Conflict:
            sources.forget(state_table(request.view))
            if number + 1 < _MOST_TRIES:
                time.sleep(0.2 * 2**number)
    raise ModelError(
        str(request.view),
        f"{Fallback(Reason.REFRESH_CONFLICT)}, {_MOST_TRIES} times",
        Reason.REFRESH_CONFLICT.way_out,
    )


def _attempted(attempt: Attempt) -> RefreshResult:
    stored = read_state(attempt.engine, attempt.view, attempt.request.owner)
    check_state_is_ours(attempt.engine, attempt.request, stored.facts)
    attempt.public.check_name()
    check_is_query(attempt.engine, attempt.view, attempt.request.sql, stored.frontier)
    if attempt.request.empty:
        return build_empty(attempt, stored)
    if stored.frontier is not None and stored.frontier.drops_auxiliaries:
        attempt.auxiliaries.drop_from(len(stored.frontier.auxiliaries) + 1)  # if that refresh was killed
    settings = semantic_settings(attempt.engine, attempt.request.header)
    _never_go_back(attempt, stored)
    if stored.frontier is not None and _nothing_changed(attempt, stored, settings):
        return _no_op(attempt, stored)
    if stored.facts is not None:
        attempt.engine.expect_commit(attempt.state)

    same = stored.frontier is not None and dict(stored.frontier.settings) == dict(settings)
    compiled = attempt.compile(
        stored.frontier if same else None, attempt.auxiliaries.of_state(stored.frontier)
    )
    attempt.sources.check_operations(compiled.tables, stored.frontier)
    fallback = reason_to_rebuild(attempt.request, stored, compiled, settings)
    if fallback is not None:
        return rebuild(attempt, stored, compiled, settings, fallback)
    assert stored.frontier is not None and stored.facts is not None and compiled.plan is not None
    try:
        decision = decide(
            attempt.engine, compiled.plan, stored.frontier, stored.facts, compiled.tables,
            attempt.request.refresh_mode, attempt.request.change_capture, attempt.moments(compiled),
            _memory(attempt, compiled), attempt.public.adds_up(compiled),
        )  # fmt: skip
    except (EngineError, RecursionError) as error:
        return rebuild_after(attempt, stored, compiled, settings, error)
    if decision.fallback is not None:
        return rebuild(attempt, stored, compiled, settings, decision.fallback)
    if decision.mode == "no_op":
        moved = attempt.frontier(compiled, settings, stored.frontier)
        # Else the next refreshes would read the same changes until their files are gone.
        limit_ms = _DAY_MS if moved.sources != stored.frontier.sources else _HALF_LOG_RETENTION_MS
        _renew(attempt, stored, replace(stored.frontier, sources=moved.sources), limit_ms)
        attempt.publish(compiled, stored.frontier, stored.facts)
        return attempt.result("no_op", explanation="no row of a source changed")
    return refresh_from_changes(attempt, stored, compiled, settings, decision)


def _never_go_back(attempt: Attempt, stored: StoredState) -> None:
    """Another driver may have refreshed the view from sources newer than what this run saw of them.

    A table that was created again, or put back, may be the newer one, or the older.
    """
    for key, source in stored.frontier.sources.items() if stored.frontier else ():
        seen = attempt.sources.seen(name_of(key))
        if seen is None or seen.table_id != source.table_id:
            attempt.sources.look_again_for(name_of(key), source.table_id)
        elif seen.version < source.version:
            attempt.sources.forget(seen.source)
        elif seen.version == source.version and is_another(seen.commit_id, source.commit_id):
            attempt.sources.look_again_for(name_of(key), source.commit_id)


def _nothing_changed(attempt: Attempt, stored: StoredState, settings: Mapping[str, str]) -> bool:
    """Whether text, settings, view and every source are those of the frontier; needs no compiling."""
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
    attempt.sources.look_ahead(map(name_of, (*frontier.sources, *frontier.views)))
    for key, source in frontier.sources.items():
        now = attempt.sources.known(name_of(key))
        if now is None or now.at != source.at:
            return False
    if frontier.moments != attempt.sources.moments(frontier.moments):
        return False
    if not attempt.sources.resolve(frontier.resolved):
        return False
    for key, text in frontier.views.items():
        now = attempt.sources.known(name_of(key))
        if now is None or now.kind != "view" or view_hash(now) != text:
            return False
    return attempt.public.is_as_left(frontier)


def _no_op(attempt: Attempt, stored: StoredState) -> RefreshResult:
    assert stored.frontier is not None
    _renew(attempt, stored, stored.frontier, _HALF_LOG_RETENTION_MS)
    return attempt.result("no_op", explanation="no source changed")


def _renew(attempt: Attempt, stored: StoredState, frontier: Frontier, limit_ms: int) -> None:
    """Write the frontier again before Delta's log clean-up removes the commit that holds it.

    limit_ms  how old that commit may be
    """
    commit = stored.frontier_commit
    if commit is None:
        return
    newest = attempt.engine.commits(attempt.state, stored.version - 1)
    now_ms = time.time() * 1000
    if not newest or now_ms - commit.timestamp_ms < limit_ms:
        return
    sql = f"alter table {attempt.state.sql} set tblproperties ('sparkivm.renewed' = '{int(now_ms)}')"
    attempt.commit(stored, replace(frontier, base=stored.version), sql)


def _memory(attempt: Attempt, compiled: CompiledView) -> Memory:
    assert compiled.plan is not None
    read = columns_read(compiled.plan.core, Scan)
    return ViewMemory(
        attempt.sources.memory, attempt.engine, compiled.tables, read, attempt.statements, attempt.warnings
    )
