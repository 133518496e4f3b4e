"""A refresh from changes: one statement brings the state to what the sources are now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sparkivm.algebra import Empty
from sparkivm.changes.source_change import DELETION_VECTORS
from sparkivm.changes.state_columns import columns_of
from sparkivm.engine import EngineError, RelationFacts
from sparkivm.plan.state import GroupState
from sparkivm.plan.state_change import StateChange
from sparkivm.refresh.attempt import Attempt
from sparkivm.refresh.commit import Committed
from sparkivm.refresh.compiled_view import CompiledView
from sparkivm.refresh.decide import Decision, parts_by, without_parts
from sparkivm.refresh.planning_settings import planned_for_changes
from sparkivm.refresh.rebuild import rebuild_after
from sparkivm.refresh.result import RefreshResult, SourceVersions
from sparkivm.refresh.staging import Staging
from sparkivm.refresh.state_part import StatePart, find_part
from sparkivm.refresh.stored_state import StoredState, check_files
from sparkivm.spark_sql.relations import select_text
from sparkivm.statements.applying_statement import applying_statement


def refresh_from_changes(
    attempt: Attempt,
    stored: StoredState,
    compiled: CompiledView,
    settings: Mapping[str, str],
    decision: Decision,
) -> RefreshResult:
    """Apply what was decided; a state for which Spark fails to do so is rebuilt.

    Raises: ModelError if it fails and the mode is strict.
    """
    plan, old = compiled.plan, stored.frontier
    assert plan is not None and old is not None and stored.facts is not None
    assert decision.change is not None
    try:
        if not decision.change.is_whole:  # else no file is left
            check_files(attempt.engine, stored.facts)
        with (
            planned_for_changes(attempt.engine, decision.read_bytes),
            Staging(
                attempt.engine,
                attempt.view,
                attempt.request.owner,
                attempt.statements,
                decision.kept_changes,
            ) as staging,
        ):
            change, part = _change(attempt, compiled, stored, decision, staging)
            appends_entries = change.kind == "entries" and change.form == "append"
            frontier = replace(
                attempt.frontier(compiled, settings, old),
                base=stored.version,
                columns=columns_of(stored.facts.fields),
                several=appends_entries or (old.several and not change.is_whole),
                appended=old.appended + 1 if appends_entries else 0,
            )
            cut_down = decision.ranges.parts(change.rows, change.staged)
            texts = attempt.texts(compiled, decision, cut_down, stored.facts, part, staging.texts, old)
            rows = staging.shortened(change.rows, texts, decision.sizes.within(cut_down))
            select = select_text(rows, texts)
            predicate = part.predicate if part else ""
            sql = applying_statement(attempt.engine, attempt.state, plan.state, change, select, predicate)
            committed = attempt.commit(stored, frontier, sql)
    except (EngineError, RecursionError) as error:
        return rebuild_after(attempt, stored, compiled, settings, error)
    attempt.publish(compiled, frontier, stored.facts)
    return attempt.result(
        "incremental",
        explanation=decision.explanation,
        form=change.form,
        **_row_counts(change.form, committed),
        sources=tuple(
            SourceVersions(str(compiled.tables[key].source), c.old, c.new)
            for key, c in decision.changes.items()
        ),
        compiled=compiled,
    )


def _change(
    attempt: Attempt, compiled: CompiledView, stored: StoredState, decision: Decision, staging: Staging
) -> tuple[StateChange, StatePart | None]:
    """The change as it is applied, and the part of the state that it replaces.

    Changes that are read several times are computed beforehand.
    """
    change, plan = decision.change, compiled.plan
    assert change is not None and plan is not None and stored.facts is not None
    if change.form in ("replace", "merge"):
        _switch_on_deletion_vectors(attempt, stored.facts)
    if change.staged is None:
        return change, None
    cut_down = decision.ranges.parts(change.staged)
    texts = attempt.texts(compiled, decision, cut_down, staged=staging.texts, old=stored.frontier)
    staging.stage(change.staged, texts, decision.sizes.within(cut_down))
    if change.form != "replace":
        return change, None
    part = find_part(
        attempt.engine,
        staging.changes,
        f"{attempt.state.sql} version as of {stored.version}",
        parts_by(plan.state, stored.facts),
        exact=isinstance(plan.state, GroupState) and len(plan.state.keys) == 1,
    )
    if part is None:
        return decision.in_form(without_parts(stored.facts), ""), None
    if not part.predicate:
        return StateChange("append", Empty(plan.state.names), "groups"), None
    return decision.in_form("replace", part.column), part


def _switch_on_deletion_vectors(attempt: Attempt, state: RelationFacts) -> None:
    """A large state marks rows as deleted; a small one does not, as its readers would look for marks."""
    if DELETION_VECTORS in {**state.properties, **attempt.request.layout.tblproperties}:
        return
    attempt.execute(attempt.engine.render("enable_deletion_vectors", table=attempt.state.sql))


def _row_counts(form: str, committed: Committed) -> dict[str, Any]:
    """What the statement or its commit says of the state's rows."""
    count = committed.commit.count
    if form == "replace":
        written, copied = count("numOutputRows"), count("numCopiedRows")
        inserted = None if written is None else written - (copied or 0)
        return {"inserted": inserted, "deleted": count("numDeletedRows")}
    if form == "merge":
        return {
            "inserted": count("numTargetRowsInserted"),
            "updated": count("numTargetRowsUpdated"),
            "deleted": count("numTargetRowsDeleted"),
        }
    return {"inserted": count("numOutputRows")}
