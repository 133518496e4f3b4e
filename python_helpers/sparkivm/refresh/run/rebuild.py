"""A full refresh: the state is computed again from the sources, with a stated reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from sparkivm.algebra import Window
from sparkivm.algebra.aggregates.sum import OVERFLOW
from sparkivm.changes.frontier import Frontier, Timing
from sparkivm.engine import EngineError, RelationFacts
from sparkivm.errors import ModelError
from sparkivm.formats import format_of
from sparkivm.formats.delta import CHANGE_FEED
from sparkivm.formats.state_format import Write
from sparkivm.frontend.chosen_rows import with_chosen_rows
from sparkivm.names import TableName, quoted
from sparkivm.plan.state import BagState
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.decide.cost import rebuild_s
from sparkivm.refresh.model.compiled_view import CompiledView
from sparkivm.refresh.model.pinned_text import pinned_text
from sparkivm.refresh.observation import Observation, compiled_for, recompiled
from sparkivm.refresh.result import Mode, RefreshResult, SourceVersions
from sparkivm.refresh.run.attempt import Attempt
from sparkivm.refresh.stored.commit import Committed
from sparkivm.refresh.stored.owned import drop_own
from sparkivm.refresh.stored.ownership import is_ours
from sparkivm.refresh.stored.stored_state import StoredState
from sparkivm.spark_sql.relations import select_text

# Spark may make a mistake in a plan, and none in a text of the same meaning. Other classes, as
# INTERNAL_ERROR_SHUFFLE, are failures of the cluster.
_MISTAKE_OF_SPARK = re.compile(r"\[INTERNAL_ERROR(?:_ATTRIBUTE_NOT_FOUND)?\]")


def rebuild(attempt: Attempt, seen: Observation, why: Fallback) -> RefreshResult:
    """Replace the state by what the sources hold now, with the auxiliary views that are worth it by now.

    If Spark fails to compute the plan, the model's own text is computed.

    Raises: ModelError if the mode is strict, or the model's config forbids it; EngineError; Conflict.
    """
    _check_allowed(attempt, why, seen.compiled.fallback)

    def compiled_over(auxiliaries: Mapping[str, TableName]) -> CompiledView:
        return compiled_for(attempt.engine, attempt.sources, attempt.request, None, auxiliaries)

    compiled = attempt.auxiliaries.decided(seen.stored.frontier, seen.compiled, compiled_over)
    seen = recompiled(attempt.sources, seen, _with_capture(attempt, compiled))
    if compiled.auxiliaries:
        attempt.auxiliaries.check_sources()
    try:
        return _rebuilt(attempt, seen, why)
    except EngineError as error:
        if seen.stored.facts is None:
            attempt.auxiliaries.drop_from(1)  # else they would be of no view
        failed = _failure_of_plan(error)
        if failed is None or compiled.plan is None:
            raise
    timeless = not compiled.plan.moments
    own = compiled_over({}) if compiled.auxiliaries else seen.compiled
    own = replace(own, plan=None, fallback=failed, complete=own.complete and timeless)
    if why.reason not in (Reason.STATE_MISSING, Reason.FULL_REFRESH_REQUESTED):
        why = failed
    _check_allowed(attempt, why, failed)
    return _rebuilt(attempt, recompiled(attempt.sources, seen, own), why)


def _check_allowed(attempt: Attempt, why: Fallback, unmaintainable: Fallback | None) -> None:
    """Raises: ModelError if the mode is strict, or the model's config forbids a rebuild for this reason."""
    request = attempt.request
    first = why.reason is Reason.STATE_MISSING
    asked = why.reason is Reason.FULL_REFRESH_REQUESTED
    if request.refresh_mode == "strict" and (unmaintainable is not None or not (first or asked)):
        cause = unmaintainable or why
        raise ModelError(
            str(attempt.view), f"{cause}, and refresh_mode is strict", cause.reason.way_out, cause.place
        )
    if not first and not request.full_refresh_allowed and not asked:
        raise ModelError(
            str(attempt.view),
            f"it has to be rebuilt ({why}), and its config says full_refresh: false",
            "remove full_refresh: false for one run",
        )


def _rebuilt(attempt: Attempt, seen: Observation, why: Fallback) -> RefreshResult:
    stored, compiled = seen.stored, seen.compiled
    first, unmaintainable = why.reason is Reason.STATE_MISSING, compiled.fallback
    former_state = attempt.public.former_state
    former = stored.frontier.auxiliaries if stored.frontier else None
    drops = stored.facts is not None and (former is None or len(former) > len(compiled.auxiliaries))
    frontier = replace(attempt.frontier(seen), drops_auxiliaries=drops, timing=_timing(attempt, seen))
    committed = _replace_state(attempt, stored, frontier, _select(attempt, seen))
    attempt.publish(seen, frontier, attempt.state_facts(), in_any_case=attempt.request.full_refresh)
    if drops or stored.facts is None:
        attempt.auxiliaries.drop_from(len(compiled.auxiliaries) + 1)
    if former_state is not None:
        _drop_state(attempt, former_state)
    reported = why if unmaintainable is None or not first else unmaintainable
    mode: Mode = "create" if first else "full"
    return attempt.result(
        mode,
        fallback=None if first and unmaintainable is None else reported,
        form="create" if first else "rebuild",
        rows=attempt.format.row_counts(committed.commit),
        sources=tuple(SourceVersions(str(s.source), None, s.version) for s in compiled.tables.values()),
        compiled=compiled,
        created=first,
    )


def _timing(attempt: Attempt, seen: Observation) -> Timing:
    plan, state = seen.compiled.plan, seen.stored.facts
    if plan is None:
        return Timing()
    size_bytes = (state.size_bytes or 0) if state else 0
    return attempt.timing(seen, "full", rebuild_s(plan.written, size_bytes, seen.compiled.tables))


def build_empty(attempt: Attempt, stored: StoredState) -> RefreshResult:
    """--empty: an existing view is left alone, a missing one built without rows, to be rebuilt."""
    if stored.facts is not None and attempt.public.is_there:
        return attempt.result("no_op", explanation="--empty leaves an existing view as it is")
    owner = attempt.request.owner
    frontier = Frontier(
        owner.project, owner.model, attempt.view.key, "full", "", "", {}, {}, deterministic=False
    )
    _replace_state(attempt, stored, frontier, f"select * from (\n{attempt.request.sql}\n) as model limit 0")
    names = [f.name for f in attempt.engine.schema_of(f"select * from {attempt.state.sql}")]
    attempt.public.create(f"select {', '.join(map(quoted, names))}\nfrom {attempt.state.sql}", frontier)
    return attempt.result("create", explanation="--empty", created=True)


def is_mistake_of_spark(message: str) -> bool:
    """Whether an error is one of Spark's own, and neither the query's nor the cluster's."""
    return _MISTAKE_OF_SPARK.search(message) is not None


def _failure_of_plan(error: EngineError) -> Fallback | None:
    """What speaks against computing the plan, and not against the model's own text."""
    if OVERFLOW in str(error):
        return Fallback(Reason.NUMERIC_OVERFLOW)
    if is_mistake_of_spark(str(error)):
        return Fallback(Reason.REFRESH_FAILED, str(error))
    return None


def _with_capture(attempt: Attempt, compiled: CompiledView) -> CompiledView:
    """Sources that do not record their changes do so from now on. Returns: the view over these sources."""
    if compiled.plan is None or attempt.request.change_capture == "never_alter":
        return compiled
    fresh = {
        key: _recording_its_changes(attempt, compiled.tables[key])
        for key in sorted(compiled.plan.tables)
        if not format_of(compiled.tables[key]).records_changes(compiled.tables[key])
    }
    return replace(compiled, tables={**compiled.tables, **fresh})


def _recording_its_changes(attempt: Attempt, source: RelationFacts) -> RelationFacts:
    engine = attempt.engine
    problem: EngineError | None = None
    try:
        engine.run("enable_change_capture", table=source.name.sql)
        engine.warn(f"{source.name} records its changes from now on ({CHANGE_FEED} = true)")
    except EngineError as error:
        problem = error
    attempt.sources.forget(source.source)
    fresh = attempt.sources.facts(source.source)
    assert fresh is not None, f"{source.name} was there a moment ago"
    # The refresh of another view may have been faster.
    if problem is not None and not format_of(fresh).records_changes(fresh):
        engine.warn(f"{source.name} does not record its changes, and could not be told to: {problem}")
    return fresh


def _select(attempt: Attempt, seen: Observation) -> str:
    """The model's own text at the pinned versions where the state is its rows; else what the plan has."""
    compiled = seen.compiled
    plan = compiled.plan
    pinned = pinned_text(attempt.request.sql, compiled)
    own = pinned if pinned is not None else attempt.request.sql
    if plan is None:
        return own
    if (
        isinstance(plan.state, BagState)
        and pinned is not None
        and compiled.tree is not None
        and with_chosen_rows(compiled.tree) is compiled.tree  # or columns would have other names
        and plan.finalizer.split.takes_all
        and not plan.moments
        and not any(isinstance(node, Window) for node in plan.core.walk())  # which settles ties
        and plan.state.names == tuple(f.name for f in compiled.fields)
    ):
        return pinned
    return select_text(plan.content, attempt.texts(seen))


def _replace_state(attempt: Attempt, stored: StoredState, frontier: Frontier, select: str) -> Committed:
    layout, format = attempt.request.layout, attempt.format
    if stored.facts is None or stored.facts.kind != layout.file_format:
        _check_catalog(attempt)
        if stored.facts is not None:
            drop_own(attempt.engine, stored.facts)  # no statement replaces it
            stored = replace(stored, facts=None, frontier_commit=None)
        if layout.catalog:
            schema = ".".join(map(quoted, (layout.catalog, attempt.state.schema)))
            attempt.engine.run("create_state_schema", schema=schema)
    location = attempt.request.state_location if stored.facts is None else None  # Delta moves no table
    marker = attempt.request.state_marker
    properties = {**format.properties(), **layout.tblproperties, **marker.properties}

    def made(properties: Mapping[str, str]) -> Committed:
        arguments = {
            "state": attempt.state.sql,
            "select": select,
            "partition_by": [quoted(name) for name in layout.partition_by],
            "liquid_clustered_by": [quoted(name) for name in layout.liquid_clustered_by],
            "tblproperties": properties,
            "location": location,
            "provider": format.provider,
        }
        return attempt.commit(stored, frontier, Write("rebuild_state", arguments))

    return format.make(attempt.state, properties, made, attempt.engine.write)


def _check_catalog(attempt: Attempt) -> None:
    """Raises: ModelError if it is known that a new state's catalog has no tables of its format."""
    format = attempt.format
    if not format.not_in:
        return
    catalog = attempt.request.layout.catalog or attempt.sources.current[0]
    setting = f"spark.sql.catalog.{catalog}"
    if attempt.engine.settings([setting]).get(setting, "") in format.not_in:
        name = format.provider.title()
        raise ModelError(
            str(attempt.view),
            f"the catalog {catalog} cannot have tables of {name}",
            f"name a catalog of {name} in state_catalog, make {setting} one, or choose another file_format",
        )


def _drop_state(attempt: Attempt, state: TableName) -> None:
    """Drop the state that a view had in another catalog."""
    found = attempt.engine.describe(state)
    if found is not None and is_ours(found, attempt.request.state_marker):
        drop_own(attempt.engine, found)
