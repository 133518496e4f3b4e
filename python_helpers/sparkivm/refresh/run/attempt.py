"""One attempt at a refresh: its connection, and the steps that all ways of refreshing share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Literal

from sparkivm.changes.frontier import Frontier, Timing
from sparkivm.engine import Commit, RelationFacts
from sparkivm.formats.refresh_texts import PinnedTable, RefreshTexts
from sparkivm.formats.state_format import RowCounts, StateFormat, Write
from sparkivm.names import TableName
from sparkivm.plan.key_ranges import TablePart
from sparkivm.plan.state import STATE
from sparkivm.plan.strategies import strategies
from sparkivm.reasons import Fallback
from sparkivm.refresh.decide.apply_form import takes_entries
from sparkivm.refresh.decide.decide import Decision
from sparkivm.refresh.decide.learned_costs import learned
from sparkivm.refresh.decide.state_part import StatePart
from sparkivm.refresh.model.compiled_view import CompiledView
from sparkivm.refresh.observation import Observation, own_state
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import Mode, RefreshResult, SourceVersions
from sparkivm.refresh.run.auxiliaries import Auxiliaries
from sparkivm.refresh.run.next_frontier import next_frontier
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.commit import Conflict, commit_statement
from sparkivm.refresh.stored.kept_snapshots import keep_snapshots, release_snapshots, tag_of
from sparkivm.refresh.stored.stored_state import StoredState

_NO_ROWS = RowCounts()
_MANY_SNAPSHOTS = 100  # a hint follows each time that so many were added


@dataclass(frozen=True)
class Attempt:
    """What one attempt works with.

    request     with the query's SQL as this session reads it
    refresh     refreshes another view from the versions that this run reads
    started_ms  when it began
    """

    engine: RecordingEngine
    request: RefreshRequest
    sources: Sources
    refresh: Callable[[RefreshRequest], RefreshResult]
    started_ms: int

    @property
    def view(self) -> TableName:
        return self.request.view

    @property
    def state(self) -> TableName:
        return self.request.state

    @property
    def format(self) -> StateFormat:
        return self.request.format

    @property
    def state_properties(self) -> Mapping[str, str]:
        """The properties of a new state."""
        marker, layout = self.request.state_marker, self.request.layout
        return {**self.format.properties(), **layout.tblproperties, **marker.properties}

    @cached_property
    def public(self) -> PublicView:
        return PublicView(self.engine, self.sources, self.request)

    def stored(self) -> StoredState:
        """The state as it is stored. Raises: ModelError if it, or the view, belongs to somebody else."""
        return own_state(self.engine, self.request, self.public)

    @cached_property
    def auxiliaries(self) -> Auxiliaries:
        return Auxiliaries(self.engine, self.request, self.sources, self.refresh)

    def frontier(self, seen: Observation, old: Frontier | None = None) -> Frontier:
        """The frontier for the next state's commit."""
        return next_frontier(self.engine, seen, old)

    def timing(self, seen: Observation, way: Literal["", "changes", "full"], estimated_s: float) -> Timing:
        """What the next refresh learns from this one."""
        return replace(
            learned(seen.stored),
            way=way if self.request.learns_costs else "",
            estimated_ms=round(1000 * estimated_s),
            started_ms=self.started_ms,
        )

    def texts(
        self,
        seen: Observation,
        decision: Decision | None = None,
        parts: Mapping[str, TablePart] = MappingProxyType({}),
        part: StatePart | None = None,
        staged: Mapping[str, str] | None = None,
    ) -> RefreshTexts:
        """How SQL reads a plan's tables and changes at the versions that were seen.

        decision  of a refresh from changes
        parts     of tables, if only these are read
        part      of the state, if only this is read
        staged    names of changes that are already computed
        """
        changes, kept = (decision.changes, decision.way.kept) if decision and decision.way else ({}, {})
        pinned = {
            key: PinnedTable(facts, changes.get(key), kept=kept.get(key, ""))
            for key, facts in seen.compiled.tables.items()
        }
        for key, found in parts.items():
            pinned[key] = replace(pinned[key], where=found.condition.sql("spark"))
        stored = seen.stored
        if stored.facts is not None:
            pinned[STATE] = PinnedTable(stored.facts, where=part.bounds if part else "")
        before = stored.frontier.moments if stored.frontier else {}
        return RefreshTexts(pinned, staged, (seen.moments, before))

    def state_facts(self) -> RelationFacts:
        """The state that was just written. Raises: Conflict if somebody dropped it."""
        facts = self.engine.describe(self.state)
        if facts is None:
            raise Conflict(f"{self.state} was dropped after it was written")
        return facts

    def publish(
        self, seen: Observation, frontier: Frontier, state: RelationFacts, *, in_any_case: bool = False
    ) -> None:
        """Create or replace the public view if it is out of date, or in any case."""
        plan = seen.compiled.plan
        entries = plan is not None and takes_entries(plan.state, state)
        self.public.publish(seen.compiled, frontier, in_any_case=in_any_case, takes_entries=entries)

    def commit(self, stored: StoredState, frontier: Frontier, write: Write) -> Commit:
        """Change the state by one statement.

        Raises: Conflict if somebody else committed first; EngineError.
        """
        snapshots = stored.facts.snapshots if stored.facts else 0
        if snapshots and snapshots % _MANY_SNAPSHOTS == 0:
            self.engine.warn(
                f"{self.state} keeps {snapshots} snapshots; "
                "`dbt run-operation expire_incremental_view_snapshots` removes those that nothing needs"
            )
        try:
            return commit_statement(self.engine, self.format, self.state, stored, frontier, write)
        finally:
            self.sources.forget(self.state)

    def keep_snapshots(self, frontier: Frontier, state: RelationFacts, *, names_others: bool = False) -> None:
        """Tag the snapshots that the state reflects, where the project asks for it.

        names_others  whether to warn of sources that have no snapshots to keep
        """
        declared, facts = self.request.declared, self.sources.known
        if declared.keeps_snapshots:
            tag, now_ms = tag_of(state, self.request.owner), int(1000 * time.time())
            keep_snapshots(self.engine, declared, tag, frontier, facts, now_ms, names_others=names_others)

    def move_snapshots(self, frontier: Frontier, replaced: StoredState) -> None:
        """The same after the state was replaced: in Delta it has another id then, and so another tag."""
        if not self.request.declared.keeps_snapshots:
            return
        state, former = self.state_facts(), replaced.facts
        self.keep_snapshots(frontier, state, names_others=True)
        if former is not None and former.table_id != state.table_id:
            release_snapshots(self.engine, former, replaced.frontier or frontier)

    def result(
        self,
        mode: Mode,
        *,
        fallback: Fallback | None = None,
        explanation: str = "",
        form: str = "",
        rows: RowCounts = _NO_ROWS,
        sources: tuple[SourceVersions, ...] = (),
        compiled: CompiledView | None = None,
    ) -> RefreshResult:
        """The report; `refresh_view` adds what the engine recorded."""
        how: dict[str, str] = {}
        if compiled is not None and compiled.plan is not None:
            how = strategies(compiled.plan)
            for auxiliary in compiled.auxiliaries.values():
                how[auxiliary.identifier] = "auxiliary view, refreshed first"
        return RefreshResult(
            mode=mode,
            view=self.view,
            state=self.state,
            fallback=fallback,
            explanation=explanation,
            apply_form=form,  # type: ignore[arg-type]
            rows_inserted=rows.inserted,
            rows_updated=rows.updated,
            rows_deleted=rows.deleted,
            sources=sources,
            strategies=how,
            put_aside=self.public.put_aside_as,
        )
