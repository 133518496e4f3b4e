"""A refresh from changes: one statement brings the state to what the sources are now."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkivm.algebra import Empty
from sparkivm.changes.frontier import Frontier
from sparkivm.changes.state_columns import columns_of
from sparkivm.plan.state import GroupState
from sparkivm.plan.state_change import StateChange, staged_change
from sparkivm.refresh.changed_rows.estimated_size import estimated_rows
from sparkivm.refresh.decide.apply_form import parts_by, without_parts
from sparkivm.refresh.decide.decide import Decision, Way
from sparkivm.refresh.decide.state_part import StatePart, find_part
from sparkivm.refresh.observation import Observation
from sparkivm.refresh.result import RefreshResult, SourceVersions
from sparkivm.refresh.run.attempt import Attempt
from sparkivm.refresh.session.planning_settings import planned_for_changes
from sparkivm.refresh.stored.commit import Committed
from sparkivm.refresh.stored.staging import Staging
from sparkivm.refresh.stored.stored_state import check_files
from sparkivm.spark_sql.relations import select_text
from sparkivm.statements.applying_statement import applying_statement


@dataclass(frozen=True)
class Applied:
    """What was committed."""

    change: StateChange
    frontier: Frontier
    committed: Committed


def apply_changes(attempt: Attempt, seen: Observation, decision: Decision) -> Applied:
    """Change the state as it was decided.

    Raises: EngineError, RecursionError, and the state is as it was; Conflict.
    """
    stored, way = seen.stored, decision.way
    plan, old = seen.compiled.plan, stored.frontier
    assert plan is not None and old is not None and stored.facts is not None and way is not None
    if not way.change.is_whole:  # else no file is left
        check_files(attempt.engine, stored.facts)
    with (
        planned_for_changes(attempt.engine, way.costs.from_changes.bytes),
        Staging(attempt.engine, attempt.view, attempt.request.owner, decision.kept_changes) as staging,
    ):
        change, part = _change(attempt, seen, decision, way, staging)
        appends_entries = change.kind == "entries" and change.form == "append"
        frontier = replace(
            attempt.frontier(seen, old),
            base=stored.version,
            columns=columns_of(stored.facts.fields),
            several=appends_entries or (old.several and not change.is_whole),
            appended=old.appended + 1 if appends_entries else 0,
            timing=attempt.timing(
                seen, "" if change.form == "recompute" else "changes", way.costs.incremental_s
            ),
        )
        cut_down = way.ranges.parts(change.rows, change.staged)
        texts = attempt.texts(seen, decision, cut_down, part, staging.texts)
        rows = staging.shortened(change.rows, texts, way.sizes.within(cut_down))
        select = select_text(rows, texts)
        predicate = part.predicate if part else ""
        write = applying_statement(attempt.state, plan.state, change, select, predicate)
        return Applied(change, frontier, attempt.commit(stored, frontier, write))


def published(attempt: Attempt, seen: Observation, decision: Decision, applied: Applied) -> RefreshResult:
    """What remains to be done after the commit, and the report."""
    assert seen.stored.facts is not None
    attempt.publish(seen, applied.frontier, seen.stored.facts)
    tables = seen.compiled.tables
    return attempt.result(
        "incremental",
        explanation=decision.explanation,
        form=applied.change.form,
        rows=attempt.format.row_counts(applied.committed.commit),
        sources=tuple(
            SourceVersions(str(tables[key].source), c.old, c.new) for key, c in decision.changes.items()
        ),
        compiled=seen.compiled,
    )


def _change(
    attempt: Attempt, seen: Observation, decision: Decision, way: Way, staging: Staging
) -> tuple[StateChange, StatePart | None]:
    """The change as it is applied, and the part of the state that it replaces.

    Changes that are read several times are computed beforehand.
    """
    change, plan, state = way.change, seen.compiled.plan, seen.stored.facts
    assert plan is not None and state is not None
    if change.form in ("replace", "merge"):
        first = attempt.format.before_change(state, attempt.request.layout.tblproperties)
        if first is not None:
            attempt.engine.write(first)
    if change.staged is None:
        return change, None
    cut_down = way.ranges.parts(change.staged)
    texts = attempt.texts(seen, decision, cut_down, staged=staging.texts)
    staging.stage(change.staged, texts, way.sizes.within(cut_down))
    if change.form != "replace":
        return change, None
    part = find_part(
        attempt.engine,
        staging.changes,
        state.pinned,
        estimated_rows(state),
        parts_by(plan.state, state),
        exact=isinstance(plan.state, GroupState) and len(plan.state.keys) == 1,
    )
    if part is None:
        return staged_change(plan.state, without_parts(state), change.traces[0], way.sizes), None
    if not part.predicate:
        return StateChange("append", Empty(plan.state.names), "groups"), None
    return staged_change(plan.state, "replace", change.traces[0], way.sizes, part.column), part
