"""One refresh, from the request to the result. Data flows one way; the state changes in one commit."""

from __future__ import annotations

import time
from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

from sparkivm.algebra import Empty, Scan, Window
from sparkivm.algebra.columns_read import columns_read
from sparkivm.algebra.exact_sums import OVERFLOW
from sparkivm.changes.delta_texts import DeltaTexts, PinnedTable
from sparkivm.changes.frontier import Frontier
from sparkivm.changes.source_change import CHANGE_FEED, DELETION_VECTORS, records_changes
from sparkivm.engine import Engine, EngineError, RelationFacts, Row
from sparkivm.errors import ModelError
from sparkivm.frontend.parse import statement_end, statement_text
from sparkivm.names import TableName, name_of, quoted, state_table
from sparkivm.plan.key_ranges import TablePart
from sparkivm.plan.state import STATE, BagState, GroupState
from sparkivm.plan.state_change import StateChange
from sparkivm.plan.strategies import strategies
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.auxiliaries import Auxiliaries
from sparkivm.refresh.commit import Committed, Conflict, commit_statement
from sparkivm.refresh.compiled_view import CompiledView, compile_view, pinned_text
from sparkivm.refresh.decide import Decision, decide, parts_by, takes_entries, without_parts
from sparkivm.refresh.metered_engine import MeteredEngine
from sparkivm.refresh.next_frontier import next_frontier
from sparkivm.refresh.pins import Pins
from sparkivm.refresh.planning_settings import planned_for_changes
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.reason_to_rebuild import reason_to_rebuild
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import Mode, RefreshResult, SourceVersions
from sparkivm.refresh.run_memory import Memory, ViewMemory
from sparkivm.refresh.session_settings import refuse_lossy_settings, semantic_settings
from sparkivm.refresh.source_catalog import SourceCatalog, digest
from sparkivm.refresh.sources import Sources
from sparkivm.refresh.staging import Staging
from sparkivm.refresh.state_part import StatePart, find_part
from sparkivm.refresh.stored_state import StoredState, read_state
from sparkivm.spark_sql.relations import select_text
from sparkivm.statements.applying_statement import applying_statement

_MOST_TRIES = 4
_HALF_LOG_RETENTION_MS = 15 * 24 * 3600 * 1000  # of Delta's default of 30 days


def refresh_view(engine: Engine, request: RefreshRequest, pins: Pins) -> RefreshResult:
    """Bring a view up to date with its sources.

    Raises: ModelError, before anything is changed, for what the model's author has to mend; or if Spark
    fails the refresh, in which case the view keeps its contents.
    """
    statement_text(str(request.view), request.sql)
    refuse_lossy_settings(engine, str(request.view))
    for attempt in range(_MOST_TRIES):
        try:
            metered = MeteredEngine(engine)
            sources = Sources(metered, pins, request.declared, request.view.schema)
            return _Refresh(metered, request, sources, pins).run()
        except Conflict:
            pins.forget(state_table(request.view))
            if attempt + 1 < _MOST_TRIES:
                time.sleep(0.2 * 2**attempt)
    raise ModelError(
        str(request.view),
        f"{Fallback(Reason.REFRESH_CONFLICT)}, {_MOST_TRIES} times",
        Reason.REFRESH_CONFLICT.way_out,
    )


@dataclass
class _Refresh:
    """One attempt. Methods are in the order in which they run."""

    engine: MeteredEngine
    request: RefreshRequest
    sources: Sources
    pins: Pins
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

    def run(self) -> RefreshResult:
        self.request = replace(self.request, sql=self.sources.model_text(self.view, self.request.sql))
        stored = read_state(self.engine, self.state)
        if stored.facts is not None and stored.facts.kind != "delta":
            raise ModelError(
                str(self.view),
                f"{self.state}, the name of its state, is no Delta table",
                "rename or drop what has this name",
            )
        if self.request.empty:
            return self._empty(stored)
        settings = semantic_settings(self.engine)
        self._never_go_back(stored)
        if stored.frontier is not None and self._nothing_changed(stored, settings):
            return self._no_op(stored)
        if stored.facts is not None:
            self.engine.expect_commit(self.state)

        compiled = self._compile(stored.frontier, self._auxiliaries.of_state(stored.frontier))
        self.sources.check_operations(compiled.tables, stored.frontier)
        fallback = reason_to_rebuild(self.request, stored, compiled, settings)
        if fallback is not None:
            return self._full(stored, compiled, settings, fallback)
        assert stored.frontier is not None and stored.facts is not None and compiled.plan is not None
        decision = decide(
            self.engine, compiled.plan, stored.frontier, stored.facts, compiled.tables,
            self.request.refresh_mode, self.request.change_capture, self._moments(compiled),
            self._memory(compiled), self._public.adds_up(compiled),
        )  # fmt: skip
        if decision.fallback is not None:
            return self._full(stored, compiled, settings, decision.fallback)
        if decision.mode == "no_op":
            moved = self._frontier(compiled, settings, stored.frontier)
            self._renew(stored, replace(stored.frontier, sources=moved.sources))
            self._publish(compiled, stored.frontier, stored.facts, known=True)
            return self._result("no_op", explanation="no row of a source changed")
        return self._incremental(stored, compiled, settings, decision)

    def _compile(
        self, frontier: Frontier | None, auxiliaries: Mapping[str, TableName] = MappingProxyType({})
    ) -> CompiledView:
        catalog = SourceCatalog(self.sources, self.view, frozenset({self.view.key, self.state.key}))
        return compile_view(self.engine, self.view, self.request.sql, catalog, frontier, auxiliaries)

    @cached_property
    def _public(self) -> PublicView:
        return PublicView(self.engine, self.sources, self.view, self.request.comment)

    @cached_property
    def _auxiliaries(self) -> Auxiliaries:
        return Auxiliaries(
            self.engine,
            self.request,
            self.sources,
            lambda request: refresh_view(self.engine, request, self.pins),
        )

    def _never_go_back(self, stored: StoredState) -> None:
        """Another driver may have refreshed the view from sources newer than what this run saw of them."""
        for key, source in stored.frontier.sources.items() if stored.frontier else ():
            seen = self.sources.known(name_of(key))
            if seen is not None and seen.table_id == source.table_id and seen.version < source.version:
                self.sources.forget(seen.source)

    # nothing to do

    def _nothing_changed(self, stored: StoredState, settings: Mapping[str, str]) -> bool:
        """Whether text, settings, view and every source are those of the frontier; needs no compiling."""
        frontier = stored.frontier
        assert frontier is not None
        if (
            self.request.full_refresh
            or self.request.refresh_mode == "full"
            or frontier.text != digest(self.request.sql)
            or dict(frontier.settings) != dict(settings)
            or not frontier.deterministic
        ):
            return False
        self.sources.look_ahead(map(name_of, (*frontier.sources, *frontier.views)))
        for key, source in frontier.sources.items():
            now = self.sources.known(name_of(key))
            if now is None or now.table_id != source.table_id or now.version != source.version:
                return False
        if frontier.moments != self.sources.moments(frontier.moments):
            return False
        for key, text in frontier.views.items():
            now = self.sources.known(name_of(key))
            if now is None or now.kind != "view" or digest(now.view_text) != text:
                return False
        return self._public.is_as_left(frontier)

    def _no_op(self, stored: StoredState) -> RefreshResult:
        assert stored.frontier is not None
        self._renew(stored, stored.frontier)
        return self._result("no_op", explanation="no source changed")

    def _renew(self, stored: StoredState, frontier: Frontier) -> None:
        """Write the frontier again before Delta's log clean-up removes the commit that holds it."""
        commit = stored.frontier_commit
        if commit is None:
            return
        newest = self.engine.commits(self.state, stored.version - 1)
        now_ms = time.time() * 1000
        if not newest or now_ms - commit.timestamp_ms < _HALF_LOG_RETENTION_MS:
            return
        sql = f"alter table {self.state.sql} set tblproperties ('sparkivm.renewed' = '{int(now_ms)}')"
        self._commit(stored.version, replace(frontier, base=stored.version), sql)

    def _empty(self, stored: StoredState) -> RefreshResult:
        """--empty: an existing view is left alone, a missing one built without rows, to be rebuilt."""
        if stored.facts is not None:
            return self._result("no_op", explanation="--empty leaves an existing view as it is")
        frontier = Frontier(self.view.key, "full", "", "", {}, {}, deterministic=False)
        self._rebuild(stored, frontier, f"select * from (\n{self._model_text()}\n) as model limit 0")
        names = [f.name for f in self.engine.schema_of(f"select * from {self.state.sql}")]
        self._public.create(f"select {', '.join(map(quoted, names))}\nfrom {self.state.sql}")
        return self._result("create", explanation="--empty", created=True)

    # full

    def _full(
        self, stored: StoredState, compiled: CompiledView, settings: Mapping[str, str], fallback: Fallback
    ) -> RefreshResult:
        first = fallback.reason is Reason.STATE_MISSING
        asked = fallback.reason is Reason.FULL_REFRESH_REQUESTED
        strict = self.request.refresh_mode == "strict"
        unmaintainable = compiled.fallback
        if strict and (unmaintainable is not None or not (first or asked)):
            cause = unmaintainable or fallback
            raise ModelError(
                str(self.view), f"{cause}, and refresh_mode is strict", cause.reason.way_out, cause.place
            )
        if not first and not self.request.full_refresh_allowed and not asked:
            raise ModelError(
                str(self.view),
                f"it has to be rebuilt ({fallback}), and its config says full_refresh: false",
                "remove full_refresh: false for one run",
            )
        compiled = self._auxiliaries.decided(stored.frontier, compiled, partial(self._compile, None))
        self._switch_on_capture(compiled)
        frontier = self._frontier(compiled, settings)
        try:
            committed = self._rebuild(stored, frontier, self._full_text(compiled))
        except EngineError as error:
            if OVERFLOW not in str(error) or compiled.plan is None:
                raise
            if compiled.auxiliaries:
                compiled = self._compile(None)
            compiled = replace(compiled, plan=None, fallback=Fallback(Reason.NUMERIC_OVERFLOW))
            return self._full(stored, compiled, settings, fallback)
        known = stored.frontier is not None and stored.frontier.fields == frontier.fields
        self._publish(compiled, frontier, self._state_facts(), known=known)
        if stored.frontier is None or stored.frontier.auxiliaries:
            self._auxiliaries.drop_from(len(compiled.auxiliaries) + 1)
        rows = committed.commit.count("numOutputRows")
        reported = fallback if unmaintainable is None or not first else unmaintainable
        mode: Mode = "create" if first else "full"
        return self._result(
            mode,
            fallback=None if first and unmaintainable is None else reported,
            form="create" if first else "rebuild",
            inserted=rows,
            sources=tuple(SourceVersions(str(s.source), None, s.version) for s in compiled.tables.values()),
            compiled=compiled,
            created=first,
        )

    def _switch_on_capture(self, compiled: CompiledView) -> None:
        """Sources that do not record their changes do so from now on."""
        if compiled.plan is None or self.request.change_capture == "never_alter":
            return
        for key in sorted(compiled.plan.tables):
            source = compiled.tables[key]
            if records_changes(source):
                continue
            try:
                self._execute(self.engine.render("enable_change_capture", table=source.name.sql))
            except EngineError as error:
                self.warnings.append(
                    f"{source.name} does not record its changes, and could not be told to: {error}"
                )
                continue
            self.warnings.append(f"{source.name} records its changes from now on ({CHANGE_FEED} = true)")
            self.sources.forget(source.source)
            fresh = self.sources.facts(source.source)
            assert fresh is not None, f"{source.name} was there a moment ago"
            compiled.tables[key] = fresh

    def _full_text(self, compiled: CompiledView) -> str:
        """The model's own text at the pinned versions where the state is its rows; else what the plan has."""
        plan = compiled.plan
        pinned = pinned_text(self.request.sql, compiled)
        own = pinned if pinned is not None else self._model_text()
        if plan is None:
            return own
        if (
            isinstance(plan.state, BagState)
            and pinned is not None
            and plan.finalizer.split.limit is None
            and not plan.moments
            and not any(isinstance(node, Window) for node in plan.core.walk())  # which settles ties
            and plan.state.names == tuple(f.name for f in compiled.fields)
        ):
            return pinned
        return select_text(plan.content, self._texts(compiled))

    def _rebuild(self, stored: StoredState, frontier: Frontier, select: str) -> Committed:
        layout = self.request.layout
        location = (
            f"{layout.location_root.rstrip('/')}/{self.state.identifier}" if layout.location_root else None
        )
        properties = {CHANGE_FEED: "true", **layout.tblproperties}
        sql = self.engine.render(
            "rebuild_state",
            state=self.state.sql,
            select=select,
            partition_by=[quoted(name) for name in layout.partition_by],
            liquid_clustered_by=[quoted(name) for name in layout.liquid_clustered_by],
            tblproperties=properties,
            location=location,
        )
        return self._commit(stored.version, frontier, sql)

    # incremental

    def _incremental(
        self, stored: StoredState, compiled: CompiledView, settings: Mapping[str, str], decision: Decision
    ) -> RefreshResult:
        plan, old = compiled.plan, stored.frontier
        assert plan is not None and old is not None and stored.facts is not None
        try:
            with (
                planned_for_changes(self.engine, decision.read_bytes),
                Staging(self.engine, self.view, self.statements, decision.kept_changes) as staging,
            ):
                change, part = self._change(compiled, stored, decision, staging)
                appends_entries = change.kind == "entries" and change.form == "append"
                frontier = replace(
                    self._frontier(compiled, settings, old),
                    base=stored.version,
                    several=appends_entries or (old.several and change.form != "rewrite"),
                    appended=old.appended + 1 if appends_entries else 0,
                )
                cut_down = decision.ranges.parts(change.rows, change.staged)
                texts = self._texts(compiled, decision, cut_down, stored.facts, part, staging.texts, old)
                rows = staging.shortened(change.rows, texts, decision.sizes.within(cut_down))
                select = select_text(rows, texts)
                predicate = part.predicate if part else ""
                sql = applying_statement(self.engine, self.state, plan.state, change, select, predicate)
                committed = self._commit(stored.version, frontier, sql)
        except EngineError as error:
            if self.request.refresh_mode == "strict":
                raise ModelError(
                    str(self.view), f"Spark failed the refresh: {error}", "see the debug log"
                ) from error
            fallback = Fallback(Reason.REFRESH_FAILED, str(error))
            return self._full(stored, compiled, settings, fallback)
        self._publish(compiled, frontier, stored.facts, known=True)
        return self._result(
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

    def _memory(self, compiled: CompiledView) -> Memory:
        assert compiled.plan is not None
        read = columns_read(compiled.plan.core, Scan)
        return ViewMemory(
            self.sources.memory, self.engine, compiled.tables, read, self.statements, self.warnings
        )

    def _switch_on_deletion_vectors(self, state: RelationFacts) -> None:
        """A large state marks rows as deleted; a small one does not, as its readers would look for marks."""
        if DELETION_VECTORS in {**state.properties, **self.request.layout.tblproperties}:
            return
        self._execute(self.engine.render("enable_deletion_vectors", table=self.state.sql))

    def _change(
        self, compiled: CompiledView, stored: StoredState, decision: Decision, staging: Staging
    ) -> tuple[StateChange, StatePart | None]:
        """The change as it is applied, and the part of the state that it replaces.

        Changes that are read several times are computed beforehand.
        """
        change, plan = decision.change, compiled.plan
        assert change is not None and plan is not None and stored.facts is not None
        if change.form in ("replace", "merge"):
            self._switch_on_deletion_vectors(stored.facts)
        if change.staged is None:
            return change, None
        cut_down = decision.ranges.parts(change.staged)
        texts = self._texts(compiled, decision, cut_down, staged=staging.texts, old=stored.frontier)
        staging.stage(change.staged, texts, decision.sizes.within(cut_down))
        if change.form != "replace":
            return change, None
        part = find_part(
            self.engine,
            staging.changes,
            f"{self.state.sql} version as of {stored.version}",
            parts_by(plan.state, stored.facts),
            exact=isinstance(plan.state, GroupState) and len(plan.state.keys) == 1,
        )
        if part is None:
            return decision.in_form(without_parts(stored.facts), ""), None
        if not part.predicate:
            return StateChange("append", Empty(plan.state.names), "groups"), None
        return decision.in_form("replace", part.column), part

    # steps

    def _model_text(self) -> str:
        return self.request.sql[: statement_end(self.request.sql)].replace("\ufeff", " ")

    def _frontier(
        self, compiled: CompiledView, settings: Mapping[str, str], old: Frontier | None = None
    ) -> Frontier:
        return next_frontier(self.engine, self.request, compiled, settings, self._moments(compiled), old)

    def _texts(
        self,
        compiled: CompiledView,
        decision: Decision | None = None,
        parts: Mapping[str, TablePart] = MappingProxyType({}),
        state: RelationFacts | None = None,
        part: StatePart | None = None,
        staged: Mapping[str, str] | None = None,
        old: Frontier | None = None,
    ) -> DeltaTexts:
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
        return DeltaTexts(pinned, staged, (self._moments(compiled), before))

    def _moments(self, compiled: CompiledView) -> Mapping[str, str]:
        return self.sources.moments(compiled.plan.moments if compiled.plan else ())

    def _state_facts(self) -> RelationFacts:
        facts = self.engine.describe(self.state)
        assert facts is not None, f"{self.state} was just written"
        return facts

    def _publish(
        self, compiled: CompiledView, frontier: Frontier, state: RelationFacts, *, known: bool
    ) -> None:
        entries = compiled.plan is not None and takes_entries(compiled.plan.state, state)
        self._public.publish(compiled, known=known, several=frontier.several, takes_entries=entries)

    def _commit(self, version: int, frontier: Frontier, sql: str) -> Committed:
        self.statements.append(sql)
        try:
            return commit_statement(self.engine, self.state, version, frontier, sql)
        finally:
            self.sources.forget(self.state)

    def _execute(self, sql: str) -> Sequence[Row]:
        self.statements.append(sql)
        return self.engine.execute(sql)

    def _result(
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
            warnings=tuple(self.warnings),
        )


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
