"""One attempt at a refresh: what it knows, and the steps that all ways of refreshing share."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

from sparkivm.changes.delta_texts import DeltaTexts, PinnedTable
from sparkivm.changes.frontier import Frontier
from sparkivm.engine import RelationFacts, Row
from sparkivm.names import TableName, state_table
from sparkivm.plan.key_ranges import TablePart
from sparkivm.plan.state import STATE
from sparkivm.plan.strategies import strategies
from sparkivm.reasons import Fallback
from sparkivm.refresh.auxiliaries import Auxiliaries
from sparkivm.refresh.commit import Committed, commit_statement
from sparkivm.refresh.compiled_view import CompiledView, compile_view
from sparkivm.refresh.decide import Decision, takes_entries
from sparkivm.refresh.metered_engine import MeteredEngine
from sparkivm.refresh.next_frontier import next_frontier
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import Mode, RefreshResult, SourceVersions
from sparkivm.refresh.source_catalog import SourceCatalog
from sparkivm.refresh.sources import Sources
from sparkivm.refresh.state_part import StatePart
from sparkivm.refresh.stored_state import StoredState


@dataclass
class Attempt:
    """What one attempt knows, and the steps that rebuilds and refreshes from changes share.

    refresh  refreshes another view from the versions that this run reads
    """

    engine: MeteredEngine
    request: RefreshRequest
    sources: Sources
    refresh: Callable[[RefreshRequest], RefreshResult]
    started: float = field(default_factory=time.perf_counter)

    @property
    def statements(self) -> MutableSequence[str]:
        """What was executed, mirrors included."""
        return self.sources.statements

    @property
    def warnings(self) -> MutableSequence[str]:
        return self.sources.warnings

    @property
    def view(self) -> TableName:
        return self.request.view

    @property
    def state(self) -> TableName:
        return state_table(self.request.view)

    @cached_property
    def public(self) -> PublicView:
        return PublicView(self.engine, self.sources, self.request)

    @cached_property
    def auxiliaries(self) -> Auxiliaries:
        return Auxiliaries(self.engine, self.request, self.sources, self.refresh)

    def compile(
        self, frontier: Frontier | None, auxiliaries: Mapping[str, TableName] = MappingProxyType({})
    ) -> CompiledView:
        """The model against the catalog as this run sees it, over auxiliary views by their queries."""
        catalog = SourceCatalog(self.sources, self.view, frozenset({self.view.key, self.state.key}))
        request = self.request
        return compile_view(
            self.engine, self.view, request.sql, catalog, frontier, auxiliaries,
            may_keep=request.may_keep_views, unseen=request.header.fallback,
        )  # fmt: skip

    def frontier(
        self, compiled: CompiledView, settings: Mapping[str, str], old: Frontier | None = None
    ) -> Frontier:
        """What the next state's commit says of it."""
        return next_frontier(self.engine, self.request, compiled, settings, self.moments(compiled), old)

    def moments(self, compiled: CompiledView) -> Mapping[str, str]:
        """The dates and times that a plan depends on, as literals; the same for all views of a run."""
        return self.sources.moments(compiled.plan.moments if compiled.plan else ())

    def texts(
        self,
        compiled: CompiledView,
        decision: Decision | None = None,
        parts: Mapping[str, TablePart] = MappingProxyType({}),
        state: RelationFacts | None = None,
        part: StatePart | None = None,
        staged: Mapping[str, str] | None = None,
        old: Frontier | None = None,
    ) -> DeltaTexts:
        """How a plan's tables and changes are written at the versions of this attempt.

        parts   of tables that are all that is read of them
        state   at the version that its frontier was read from, or a part of it
        staged  names of changes that are computed already
        old     the frontier that moments are compared with
        """
        changes, kept = (decision.changes, decision.kept) if decision else ({}, {})
        pinned = {
            key: PinnedTable(facts.name, facts.version, changes.get(key), kept=kept.get(key, ""))
            for key, facts in compiled.tables.items()
        }
        for key, found in parts.items():
            pinned[key] = replace(pinned[key], where=found.condition.sql("spark"))
        if state is not None:
            pinned[STATE] = PinnedTable(state.name, state.version, where=part.bounds if part else "")
        before = old.moments if old else {}
        return DeltaTexts(pinned, staged, (self.moments(compiled), before))

    def state_facts(self) -> RelationFacts:
        facts = self.engine.describe(self.state)
        assert facts is not None, f"{self.state} was just written"
        return facts

    def publish(
        self, compiled: CompiledView, frontier: Frontier, state: RelationFacts, *, in_any_case: bool = False
    ) -> None:
        """Create or replace the public view where it is not what it should be, or in any case."""
        entries = compiled.plan is not None and takes_entries(compiled.plan.state, state)
        self.public.publish(compiled, frontier, in_any_case=in_any_case, takes_entries=entries)

    def commit(self, stored: StoredState, frontier: Frontier, sql: str) -> Committed:
        """Change the state by one statement.

        Raises: Conflict if somebody else was faster; EngineError.
        """
        self.statements.append(sql)
        try:
            return commit_statement(self.engine, self.state, stored, frontier, sql)
        finally:
            self.sources.forget(self.state)

    def execute(self, sql: str) -> Sequence[Row]:
        self.statements.append(sql)
        return self.engine.execute(sql)

    def result(
        self,
        mode: Mode,
        *,
        fallback: Fallback | None = None,
        explanation: str = "",
        form: str = "",
        inserted: int | None = None,
        updated: int | None = None,
        deleted: int | None = None,
        sources: tuple[SourceVersions, ...] = (),
        compiled: CompiledView | None = None,
        created: bool = False,
    ) -> RefreshResult:
        """What is reported, with the time until now."""
        elapsed_s = time.perf_counter() - self.started
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
            rows_inserted=inserted,
            rows_updated=updated,
            rows_deleted=deleted,
            sources=sources,
            strategies=how,
            statements=tuple(self.statements),
            compile_s=elapsed_s - self.engine.waited_s,
            elapsed_s=elapsed_s,
            created=(self.view, self.state) if created else (),
            put_aside=self.public.put_aside_as,
            warnings=tuple(self.warnings),
        )
