"""A full refresh: the state is computed again from the sources, with a stated reason.

tested  tests/refresh/test_reasons.py, test_auxiliary_views.py, test_killed_refreshes.py,
        test_partition_values.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sparkivm.algebra import Window
from sparkivm.algebra.aggregates.sum import OVERFLOW
from sparkivm.changes.frontier import Frontier, Outcome, Timing
from sparkivm.engine import Commit, EngineError, RelationFacts
from sparkivm.errors import ModelError
from sparkivm.formats import format_of
from sparkivm.formats.delta import CHANGE_FEED
from sparkivm.formats.state_format import Write
from sparkivm.frontend.chosen_rows import with_chosen_rows
from sparkivm.names import TableName, quoted
from sparkivm.plan.state import BagState
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.decide.cost import rebuild_s
from sparkivm.refresh.model.compiled_view import CompiledView, compile_view
from sparkivm.refresh.model.pinned_text import pinned_text
from sparkivm.refresh.model.state_layout import layout_in_state
from sparkivm.refresh.observation import Observation, recompiled
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import RefreshResult, SourceVersions
from sparkivm.refresh.run.attempt import Attempt
from sparkivm.refresh.run.script import KEEP_SNAPSHOTS, Progress, Script, Step
from sparkivm.refresh.stored.commit import Conflict
from sparkivm.refresh.stored.drop_view import drop_former_states
from sparkivm.refresh.stored.ownership import drop_own
from sparkivm.refresh.stored.stored_state import StoredState
from sparkivm.spark_sql.relations import select_text

# Spark may fail on a plan but not on another text with the same meaning. Other classes, like
# INTERNAL_ERROR_SHUFFLE, are failures of the cluster.
_MISTAKE_OF_SPARK = re.compile(r"\[INTERNAL_ERROR(?:_ATTRIBUTE_NOT_FOUND)?\]")
_NO_ACTION, _ONCE = "no action needed", "run it once with --full-refresh"
_LONGEST_DETAIL = 500  # characters of a reason that a frontier keeps: messages of Spark can be long


@dataclass(kw_only=True)
class Rebuild(Progress):
    """What the steps hand to each other.

    why  we rebuild; another reason if the plan fails
    """

    why: Fallback

    @property
    def is_first(self) -> bool:
        return self.why.reason is Reason.STATE_MISSING

    def compiled_over(self, auxiliaries: Mapping[str, TableName]) -> CompiledView:
        """The view over some auxiliary views, by their queries."""
        attempt = self.attempt
        return compile_view(attempt.engine, attempt.sources, attempt.request, None, auxiliaries)

    def compile_as(self, compiled: CompiledView) -> None:
        self.seen = recompiled(self.attempt.sources, self.seen, compiled)

    @property
    def drops_auxiliaries(self) -> bool:
        """Whether there may be auxiliary views that the new state is not computed from."""
        stored, kept = self.seen.stored, len(self.seen.compiled.auxiliaries)
        return not stored.is_missing and (stored.frontier is None or len(stored.frontier.auxiliaries) > kept)


def script_of_rebuild(seen: Observation, former_state: TableName | None) -> Script[Rebuild]:
    """The steps of a full refresh.

    former_state  the view's state until now, if it is another table
    """
    request, steps = seen.request, list[Step[Rebuild]]()
    if request.may_keep_views:
        steps.append(Step("build the auxiliary views that are worth their cost", _keep_auxiliaries))
    if request.change_capture != "never_alter" and seen.compiled.plan is not None:
        steps.append(Step("switch on the change data feed of sources without one", _switch_on_capture))
    steps.append(Step(f"replace all rows of {request.state}", _replace_state))
    afterwards = [Step("create or replace the public view", _publish)]
    if request.declared.keeps_snapshots:
        afterwards.append(Step(KEEP_SNAPSHOTS, _keep_snapshots))
    afterwards.append(Step("drop auxiliary views that the state no longer reads", _drop_auxiliaries))
    if former_state is not None:
        label = f"drop the former state {former_state}"
        afterwards.append(Step(label, lambda progress: drop_former_state(progress.attempt, former_state)))
    return Script(tuple(steps), tuple(afterwards))


def drop_former_state(attempt: Attempt, state: TableName) -> None:
    """Drop the state that the view had in another catalog, with those of its auxiliary views.

    What stays is a warning, because Spark may not have the catalog any more. The next frontier forgets it.
    """
    engine = attempt.engine
    try:
        drop_former_states(engine, attempt.request, state)
    except EngineError as error:
        engine.warn(f"the former state {state} stays: {error}; drop it in a session that has its catalog")


def rebuild(attempt: Attempt, seen: Observation, why: Fallback) -> RefreshResult:
    """Replace the state by a rebuild from the sources.

    Raises: ModelError if the mode is strict, or the model's config forbids it; EngineError; Conflict.
    """
    _check_allowed(attempt, why, seen.compiled.fallback)
    script = script_of_rebuild(seen, attempt.public.former_state)
    progress = Rebuild(attempt=attempt, seen=seen, why=why)
    script.commit(progress)
    script.finish(progress)
    return _result(progress)


def _keep_auxiliaries(progress: Rebuild) -> None:
    """Build the auxiliary views that are worth their cost, and compile the view over them."""
    auxiliaries, seen = progress.attempt.auxiliaries, progress.seen
    progress.compile_as(auxiliaries.decided(seen.stored.frontier, seen.compiled, progress.compiled_over))


def _switch_on_capture(progress: Rebuild) -> None:
    """Make sources record their changes from now on."""
    compiled = progress.seen.compiled
    if compiled.plan is None:
        return
    fresh = {
        key: _recording_its_changes(progress.attempt, compiled.tables[key])
        for key in sorted(compiled.plan.tables)
        if not format_of(compiled.tables[key]).records_changes(compiled.tables[key])
    }
    progress.compile_as(replace(compiled, tables={**compiled.tables, **fresh}))


def _replace_state(progress: Rebuild) -> None:
    """Compute the plan; if Spark fails to, compute the model's own text."""
    attempt, compiled = progress.attempt, progress.seen.compiled
    if compiled.auxiliaries:
        attempt.auxiliaries.check_sources()
    try:
        _commit_rows(progress)
        return
    except EngineError as error:
        stored = progress.seen.stored
        if stored.facts is None or stored.frontier is not None:
            read = len(stored.frontier.auxiliaries) if stored.frontier else 0  # by the state as it is
            attempt.auxiliaries.drop_from(read + 1)  # otherwise no view would own them
        failed = _failure_of_plan(error)
        if failed is None or compiled.plan is None or compiled.plan.state.stamps:
            raise
    own = progress.compiled_over({}) if compiled.auxiliaries else compiled
    complete = own.complete and not compiled.plan.moments
    progress.compile_as(replace(own, plan=None, fallback=failed, complete=complete))
    if progress.why.reason not in (Reason.STATE_MISSING, Reason.FULL_REFRESH_REQUESTED):
        progress.why = failed
    _check_allowed(attempt, progress.why, failed)
    _commit_rows(progress)


def _commit_rows(progress: Rebuild) -> None:
    attempt, seen = progress.attempt, progress.seen
    progress.frontier = replace(
        attempt.frontier(seen),
        drops_auxiliaries=progress.drops_auxiliaries,
        former_state="" if (former := attempt.public.former_state) is None else former.key,
        timing=_timing(attempt, seen),
        outcome=_outcome(progress),
    )
    select = _select(attempt, seen)
    progress.committed = replace_state(attempt, seen.stored, progress.frontier, select, seen.compiled)


def _publish(progress: Rebuild) -> None:
    attempt, frontier = progress.attempt, progress.frontier
    assert frontier is not None
    before = progress.seen.stored.frontier
    again = attempt.request.full_refresh or (before is not None and before.plan != frontier.plan)
    attempt.publish(progress.seen, frontier, attempt.state_facts(), in_any_case=again)


def _keep_snapshots(progress: Rebuild) -> None:
    attempt, frontier = progress.attempt, progress.frontier
    assert frontier is not None
    attempt.move_snapshots(frontier, progress.seen.stored)


def _drop_auxiliaries(progress: Rebuild) -> None:
    if progress.drops_auxiliaries or progress.seen.stored.facts is None:
        progress.attempt.auxiliaries.drop_from(len(progress.seen.compiled.auxiliaries) + 1)


def _check_allowed(attempt: Attempt, why: Fallback, unmaintainable: Fallback | None) -> None:
    """Raises: ModelError if the rebuild is refused."""
    if (refusal := refused(attempt.request, why, unmaintainable)) is not None:
        raise refusal


def refused(request: RefreshRequest, why: Fallback, unmaintainable: Fallback | None) -> ModelError | None:
    """The error if the mode is strict, or the model's config forbids a rebuild for this reason."""
    first = why.reason is Reason.STATE_MISSING
    asked = why.reason is Reason.FULL_REFRESH_REQUESTED
    if request.refresh_mode == "strict" and (unmaintainable is not None or not (first or asked)):
        cause = unmaintainable or why
        do = cause.reason.way_out if unmaintainable is not None else _also_once(why.reason)
        return ModelError(request.view, f"{cause}, but refresh_mode is strict", do, cause.place)
    if not first and not request.full_refresh_allowed and not asked:
        return ModelError(
            request.view,
            f"it has to be rebuilt ({why}), but its config says full_refresh: false",
            "remove full_refresh: false for one run",
        )
    return None


def _also_once(reason: Reason) -> str:
    """What to do if the rebuild was refused: other modes would have done it by themselves."""
    if _NO_ACTION in reason.way_out:
        return reason.way_out.replace(_NO_ACTION, _ONCE)
    return f"{reason.way_out}; {_ONCE}"


def _reported(progress: Rebuild) -> Fallback | None:
    """The reason to report: of a first build, only that the view is not incremental."""
    return progress.seen.compiled.fallback if progress.is_first else progress.why


def _outcome(progress: Rebuild) -> Outcome:
    first, fallback = progress.is_first, _reported(progress)
    reason, _, detail = str(fallback or "").partition(": ")
    form = "create" if first else "rebuild"
    return Outcome("create" if first else "full", form, reason, detail[:_LONGEST_DETAIL])


def _result(progress: Rebuild) -> RefreshResult:
    attempt, compiled, first = progress.attempt, progress.seen.compiled, progress.is_first
    assert progress.committed is not None
    return attempt.result(
        "create" if first else "full",
        fallback=_reported(progress),
        form="create" if first else "rebuild",
        rows=attempt.format.row_counts(progress.committed),
        sources=tuple(SourceVersions(str(s.source), None, s.version) for s in compiled.tables.values()),
        compiled=compiled,
    )


def _timing(attempt: Attempt, seen: Observation) -> Timing:
    plan, state = seen.compiled.plan, seen.stored.facts
    if plan is None:
        return attempt.timing(seen, "", 0)
    size_bytes = (state.size_bytes or 0) if state else 0
    return attempt.timing(seen, "full", rebuild_s(plan.written, size_bytes, seen.compiled.tables))


def build_empty(attempt: Attempt, stored: StoredState) -> RefreshResult:
    """--empty: leaves an existing view alone, creates a missing one without rows, to be rebuilt later."""
    is_built = stored.facts is not None or attempt.public.former_state is not None
    if is_built and attempt.public.is_there:
        return attempt.result("no_op", explanation="--empty leaves an existing view as it is")
    owner = attempt.request.owner
    frontier = Frontier(
        owner.project, owner.model, attempt.view.key, "full", "", "", {}, {},
        deterministic=False, outcome=Outcome("create", "create"),
    )  # fmt: skip
    replace_state(attempt, stored, frontier, f"select * from (\n{attempt.request.sql}\n) as model limit 0")
    names = [f.name for f in attempt.engine.schema_of(f"select * from {attempt.state.sql}")]
    select = f"select {', '.join(map(quoted, names))}\nfrom {attempt.state.sql}"
    attempt.public.create(select, frontier, adds_up=False)
    return attempt.result("create", explanation="--empty")


def is_mistake_of_spark(message: str) -> bool:
    """Whether an error is a bug of Spark, not a failure of the query or the cluster."""
    return _MISTAKE_OF_SPARK.search(message) is not None


def _failure_of_plan(error: EngineError) -> Fallback | None:
    """Why the plan failed, if the model's own text may succeed."""
    if OVERFLOW in str(error):
        return Fallback(Reason.NUMERIC_OVERFLOW)
    if is_mistake_of_spark(str(error)):
        return Fallback(Reason.REFRESH_FAILED, str(error))
    return None


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
    if fresh is None:
        raise Conflict(f"{source.name} was dropped while its views were refreshed")
    # Another view's refresh may have done it first.
    if problem is not None and not format_of(fresh).records_changes(fresh):
        engine.warn(f"{source.name} does not record its changes, and enabling it failed: {problem}")
    return fresh


def _select(attempt: Attempt, seen: Observation) -> str:
    """The model's own text at the pinned versions if the state has its rows; else the plan's SELECT.

    Values that depend on the order of rows come out one way in an auxiliary view, another in the own text.
    """
    compiled = seen.compiled
    plan = compiled.plan
    pinned = pinned_text(attempt.request.sql, compiled)
    own = pinned if pinned is not None else attempt.request.sql
    if plan is None:
        return own
    if (
        isinstance(plan.state, BagState)
        and not compiled.auxiliaries
        and pinned is not None
        and compiled.tree is not None
        and with_chosen_rows(compiled.tree) is compiled.tree  # otherwise columns have other names
        and plan.finalizer.split.takes_all
        and not plan.moments
        and not any(isinstance(node, Window) for node in plan.core.walk())  # the plan breaks its ties
        and plan.state.names == tuple(f.name for f in compiled.fields)
    ):
        return pinned
    return select_text(plan.content, attempt.texts(seen))


def replace_state(
    attempt: Attempt,
    stored: StoredState,
    frontier: Frontier,
    select: str,
    compiled: CompiledView | None = None,
) -> Commit:
    """Create the state, or replace it as a whole.

    compiled  the view of the rows; None for rows whose columns have the names that the layout uses
    Raises: EngineError, ModelError, Conflict.
    """
    layout, format = attempt.request.layout, attempt.format
    if compiled is not None:
        layout = layout_in_state(attempt.request, compiled)
        columns = [(name, type_) for name, type_, _ in compiled.columns]
        partitioned = tuple(field.column for field in layout.partitions)
        select = format.checked(select, columns, partitioned)
    if stored.facts is None or stored.facts.kind != layout.file_format:
        stored = _dropped(attempt, stored)
        if layout.catalog:
            attempt.engine.run("create_state_schema", schema=attempt.state.schema_sql)

    def made(properties: Mapping[str, str]) -> Commit:
        arguments = {
            "state": attempt.state.sql,
            "select": select,
            "partition_by": [field.sql for field in layout.partitions],
            "liquid_clustered_by": [quoted(name) for name in layout.liquid_clustered_by],
            "tblproperties": properties,
            # Delta cannot move a table.
            "location": attempt.request.state_location if stored.facts is None else None,
            "provider": format.provider,
        }
        return attempt.commit(stored, frontier, Write("rebuild_state", arguments))

    try:
        return format.make(attempt.state, attempt.state_properties, made, attempt.engine.write)
    except EngineError as error:
        if stored.facts is None or not format.must_be_dropped(error):
            raise
    stored = _dropped(attempt, stored)
    return format.make(attempt.state, attempt.state_properties, made, attempt.engine.write)


def _dropped(attempt: Attempt, stored: StoredState) -> StoredState:
    """Without the state, which no statement can replace."""
    if stored.facts is not None:
        drop_own(attempt.engine, stored.facts)
    return replace(stored, facts=None, frontier_commit=None)
