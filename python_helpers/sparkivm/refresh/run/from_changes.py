"""The script of a refresh from changes: one statement brings the state up to date with the sources.

tested  tests/refresh/test_apply_forms.py, test_staging.py, test_killed_refreshes.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from sparkivm.algebra import Empty
from sparkivm.changes.frontier import Frontier, Outcome
from sparkivm.changes.state_columns import columns_of
from sparkivm.formats.state_format import StateFormat, Write
from sparkivm.plan.state import STAGED, GroupState
from sparkivm.plan.state_change import StateChange, staged_change
from sparkivm.plan.steps import Steps
from sparkivm.refresh.changed_rows.estimated_size import estimated_rows
from sparkivm.refresh.changed_rows.handed_on import handed_on
from sparkivm.refresh.decide.apply_form import parts_by, without_parts
from sparkivm.refresh.decide.cost import cut_into_steps
from sparkivm.refresh.decide.decide import Decision, Way
from sparkivm.refresh.decide.state_part import StatePart, find_part
from sparkivm.refresh.observation import Observation
from sparkivm.refresh.result import RefreshResult, SourceVersions
from sparkivm.refresh.run.attempt import Attempt
from sparkivm.refresh.run.script import KEEP_SNAPSHOTS, Progress, Script, Step
from sparkivm.refresh.session.planning_settings import planned_for_changes
from sparkivm.refresh.stored.commit import conflicts_of
from sparkivm.refresh.stored.staging import Staging
from sparkivm.refresh.stored.stored_state import check_files
from sparkivm.spark_sql.relations import select_text
from sparkivm.statements import applying_statement


@dataclass(kw_only=True)
class FromChanges(Progress):
    """What the steps hand to each other.

    change  as it is applied; `_find_part` may replace it
    rows    its rows, cut into statements, if it was replaced
    part    of the state, if only a part is replaced
    """

    decision: Decision
    staging: Staging
    change: StateChange
    rows: Steps | None = None
    part: StatePart | None = None

    @property
    def way(self) -> Way:
        assert self.decision.way is not None
        return self.decision.way

    def apply(self, change: StateChange, part: StatePart | None = None) -> None:
        """Apply this change instead of the one that was estimated."""
        self.change, self.part = change, part
        self.rows = _cut(change, self.decision)[-1]


def script_of(seen: Observation, decision: Decision, format: StateFormat) -> Script[FromChanges]:
    """The steps of an incremental refresh."""
    way, state = decision.way, seen.state
    assert way is not None
    change, steps = way.change, list[Step[FromChanges]]()
    cut = _cut(change, decision)
    if not change.is_whole:  # otherwise no old file remains
        # Without this check, only a statement that reads a lost file would notice.
        label = f"check that no file of {state.name} is missing"
        steps.append(Step(label, lambda progress: check_files(progress.attempt.engine, state)))
    if change.form in ("replace", "merge"):
        first = format.before_change(state, seen.request.layout.tblproperties)
        if first is not None:
            label = f"prepare the state: {first.macro.replace('_', ' ')}"
            steps.append(Step(label, lambda progress: _prepare(progress, first)))
    if change.staged is not None:
        label = f"compute the changes as {STAGED}{_in_tables(cut[0])}"
        steps.append(Step(label, lambda progress: _stage(progress, cut[0])))
    if change.form == "replace":
        steps.append(Step("find the part of the state that changes", _find_part))
    label = f"change the state: {change.form} of {change.kind}{_in_tables(cut[-1])}"
    steps.append(Step(label, lambda progress: _apply(progress, cut[-1])))
    afterwards = [Step("replace the public view if its text changed", _publish)]
    if way.hands_on:
        afterwards.append(Step("hand the changed rows on to the views above", _hand_on))
    if seen.request.declared.keeps_snapshots:
        afterwards.append(Step(KEEP_SNAPSHOTS, _keep_snapshots))
    return Script(tuple(steps), tuple(afterwards))


def _prepare(progress: FromChanges, first: Write) -> None:
    """Change the state's properties. Another driver may do so at the same time."""
    with conflicts_of(progress.attempt.format):
        progress.attempt.engine.write(first)


def _stage(progress: FromChanges, changes: Steps) -> None:
    """Compute the changes first, because the next statements read them several times."""
    way, staging = progress.way, progress.staging
    assert way.change.staged is not None
    parts = way.ranges.parts(way.change.staged)
    texts = progress.attempt.texts(progress.seen, progress.decision, parts, staged=staging.texts)
    staging.stage(changes, texts)


def _find_part(progress: FromChanges) -> None:
    """Find the part of the state to replace. If it is too large, the state is changed in another form."""
    change, plan, state = progress.change, progress.seen.plan, progress.seen.state
    part = find_part(
        progress.attempt.engine,
        progress.staging.changes,
        state.pinned,
        estimated_rows(state),
        parts_by(plan.state, state),
        exact=isinstance(plan.state, GroupState) and len(plan.state.keys) == 1,
    )
    sizes = progress.way.sizes
    if part is None:
        progress.apply(staged_change(plan.state, without_parts(state), change.traces[0], sizes))
    elif not part.predicate:
        progress.apply(StateChange("append", Empty(plan.state.names), "groups"))
    else:
        progress.apply(staged_change(plan.state, "replace", change.traces[0], sizes, part.column), part)


def _apply(progress: FromChanges, estimated: Steps) -> None:
    """Change the state and its frontier by one statement."""
    attempt, seen, staging = progress.attempt, progress.seen, progress.staging
    change, way, part = progress.change, progress.way, progress.part
    parts = way.ranges.parts(change.rows, change.staged)
    texts = attempt.texts(seen, progress.decision, parts, part, staging.texts)
    rows = estimated if progress.rows is None else progress.rows
    select = select_text(staging.computed(rows, texts), texts)
    types = {column.name: column.type for column in progress.seen.state.fields}
    columns = [(name, types.get(name, "")) for name in progress.seen.plan.state.names]
    partitioned, in_order = progress.seen.state.partition_columns, change.form != "merge"
    select = attempt.format.checked(select, columns, partitioned, in_order=in_order)
    predicate = part.predicate if part else ""
    write = applying_statement(attempt.state, progress.seen.plan.state, change, select, predicate)
    progress.frontier = _frontier(progress)
    progress.committed = attempt.commit(seen.stored, progress.frontier, write)


def _publish(progress: FromChanges) -> None:
    assert progress.frontier is not None
    progress.attempt.publish(progress.seen, progress.frontier, progress.seen.state)


def _hand_on(progress: FromChanges) -> None:
    """The state's feed has all rows, so the views above read the delta instead, if the run has any."""
    attempt, seen, committed = progress.attempt, progress.seen, progress.committed
    assert committed is not None
    changed = frozenset(key for key, change in progress.decision.changes.items() if change.how != "none")
    texts = attempt.texts(seen, progress.decision)
    offer = partial(handed_on, seen.plan, changed, progress.way.sizes, texts, seen.state.fields)
    now = replace(seen.state, version=committed.version, commit_id=committed.id)
    attempt.sources.memory.hand_on(seen.state, now.snapshot, seen.settings, offer)


def _keep_snapshots(progress: FromChanges) -> None:
    assert progress.frontier is not None
    progress.attempt.keep_snapshots(progress.frontier, progress.seen.state)


def _cut(change: StateChange, decision: Decision) -> list[Steps]:
    """What is computed for a change, statement by statement."""
    way = decision.way
    assert way is not None
    cut = cut_into_steps(change, way.sizes, way.ranges, decision.kept_changes)
    return [steps for steps, _ in cut]


def _in_tables(steps: Steps) -> str:
    return f", with {len(steps.tables)} intermediate tables" if steps.tables else ""


def _frontier(progress: FromChanges) -> Frontier:
    attempt, seen, change = progress.attempt, progress.seen, progress.change
    old = seen.frontier
    appends_entries = change.kind == "entries" and change.form == "append"
    return replace(
        attempt.frontier(seen, old),
        base=seen.stored.version,
        columns=columns_of(progress.seen.state.fields),
        several=appends_entries or (old.several and not change.is_whole),
        appended=old.appended + 1 if appends_entries else 0,
        timing=attempt.timing(
            seen, "" if change.form == "recompute" else "changes", progress.way.costs.incremental_s
        ),
        outcome=Outcome("incremental", change.form),
    )


def apply_changes(attempt: Attempt, seen: Observation, decision: Decision) -> Callable[[], RefreshResult]:
    """Run the script up to its commit. Returns: what runs the rest, and reports.

    Raises: EngineError, RecursionError, with the state unchanged; Conflict.
    """
    way = decision.way
    assert way is not None
    script = script_of(seen, decision, attempt.format)
    with (
        planned_for_changes(attempt.engine, way.costs.from_changes.bytes),
        Staging(attempt.engine, attempt.view, attempt.request.owner, way.joins) as staging,
    ):
        progress = FromChanges(
            attempt=attempt,
            seen=seen,
            decision=decision,
            staging=staging,
            change=way.change,
        )
        script.commit(progress)
    return partial(_published, script, progress)


def _published(script: Script[FromChanges], progress: FromChanges) -> RefreshResult:
    """Do the steps after the commit, and report."""
    script.finish(progress)
    attempt, compiled, committed = progress.attempt, progress.seen.compiled, progress.committed
    assert committed is not None
    return attempt.result(
        "incremental",
        explanation=progress.decision.explanation,
        form=progress.change.form,
        rows=attempt.format.row_counts(committed),
        sources=tuple(
            SourceVersions(str(compiled.tables[key].source), c.old, c.new)
            for key, c in progress.decision.changes.items()
        ),
        compiled=compiled,
    )
