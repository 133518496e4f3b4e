"""The auxiliary views of a view: built with it, refreshed before it, dropped with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sparkivm.algebra import Aggregate
from sparkivm.changes.frontier import Frontier
from sparkivm.changes.source_declaration import NOTHING_DECLARED
from sparkivm.digest import digest
from sparkivm.engine import EngineError, RelationFacts
from sparkivm.errors import ModelError
from sparkivm.marker import read_marker
from sparkivm.names import TableName, auxiliary_view, name_of
from sparkivm.plan.auxiliary import below_join, candidates
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.decide.cost import is_worth_keeping
from sparkivm.refresh.model.compiled_view import CompiledView, auxiliary_query, is_over_named_tables
from sparkivm.refresh.request import RefreshRequest, StateLayout
from sparkivm.refresh.result import RefreshResult
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.source_catalog import has_same_meaning
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.commit import Conflict
from sparkivm.refresh.stored.drop_view import drop_auxiliaries
from sparkivm.refresh.stored.stored_state import StoredState, read_state


def auxiliaries_of(view: TableName, queries: Sequence[str]) -> dict[str, TableName]:
    """The auxiliary views of a view, by their queries."""
    return {query: auxiliary_view(view, number) for number, query in enumerate(queries, 1)}


def queries_kept(request: RefreshRequest, frontier: Frontier | None) -> tuple[str, ...]:
    """The queries of the auxiliary views that a refresh reads and first brings up to date."""
    if frontier is None or not request.may_keep_views or request.refresh_mode == "full":
        return ()
    return frontier.auxiliaries


class Auxiliaries:
    """The auxiliary views of one view, numbered from 1; each is an incremental view itself.

    refresh  refreshes a view from the versions that this run reads
    """

    def __init__(
        self,
        engine: RecordingEngine,
        request: RefreshRequest,
        sources: Sources,
        refresh: Callable[[RefreshRequest], RefreshResult],
    ) -> None:
        self._engine, self._request, self._sources, self._refresh = engine, request, sources, refresh
        self._read: dict[str, RelationFacts] = {}  # their sources as they read them
        self.failure: Fallback | None = None  # why the view has to be rebuilt without them

    def of_state(self, frontier: Frontier | None) -> dict[str, TableName]:
        """The auxiliary views that the state was computed from, brought up to date.

        Groups below a join also have the rows that the join drops. An expression may fail for one of those,
        and the query, which never computes it, does not: the view is rebuilt without them then.

        Raises: ModelError; EngineError; Conflict.
        """
        request = self._request
        queries = queries_kept(request, frontier)
        if frontier is None or not queries:
            return {}
        try:
            return self._refreshed(queries, as_entries=frontier.adds_up_auxiliary)
        except (ModelError, EngineError) as error:
            is_same = frontier.text == digest(request.sql) and has_same_meaning(self._sources, frontier)
            if is_same and not request.full_refresh:
                if isinstance(error, ModelError) or not frontier.adds_up_auxiliary:
                    raise
                self.failure = Fallback(Reason.REFRESH_FAILED, str(error))
            return {}  # otherwise the query, or a view that it reads, changed; it may have read other tables

    def decided(
        self,
        frontier: Frontier | None,
        compiled: CompiledView,
        compiled_over: Callable[[Mapping[str, TableName]], CompiledView],
    ) -> CompiledView:
        """Before a rebuild: build the auxiliary views that are worth it. Returns: the view over them.

        compiled_over  the view over some auxiliary views
        """
        kept = tuple(compiled.auxiliaries)
        if kept and frontier is not None and kept == frontier.auxiliaries:
            return compiled
        if frontier is not None and frontier.auxiliaries:  # `compiled` may name them, and they may be dropped
            compiled = compiled_over({})
        queries, as_entries = self._chosen(compiled, frontier)
        if not queries or (as_entries and self.failure is not None):
            return compiled
        try:
            again = compiled_over(self._refreshed(queries, as_entries=as_entries))
        except (ModelError, EngineError) as error:
            if isinstance(error, EngineError) and not as_entries:
                raise
            self._engine.warn(f"{self._request.view} is built without auxiliary views: {error}")
        else:
            if tuple(again.auxiliaries) == queries:
                return again
        self.drop_from(1)
        return compiled

    def drop_from(self, number: int) -> None:
        """Drop the auxiliary views of this number and above, if there are any."""
        drop_auxiliaries(self._engine, self._request, number)

    def _refreshed(self, queries: Sequence[str], *, as_entries: bool) -> dict[str, TableName]:
        """Refreshed views by their queries."""
        views = auxiliaries_of(self._request.view, queries)
        self._read = {}  # those of another query may be gone
        for query, view in views.items():
            request = self.request_of(view, query, as_entries=as_entries)
            result = self._refresh(request)
            for name in (view, request.state):
                self._sources.forget(name)
            self._check(read_state(self._engine, request), result)
        self.check_sources()
        return views

    def check_sources(self) -> None:
        """Raises: Conflict if a source changed since, for example because this run enabled capture."""
        for read in self._read.values():
            now = self._sources.known(read.source)
            if now is None or now.at != read.at:
                raise Conflict(f"{read.name} changed after an auxiliary view of {self._request.view} read it")

    def _chosen(self, compiled: CompiledView, frontier: Frontier | None) -> tuple[tuple[str, ...], bool]:
        """Queries of the inner aggregates that need a view, or else of those that are worth one.

        Also whether the view adds up the entries of the only one.
        """
        plan, catalog, request = compiled.plan, compiled.catalog, self._request
        if plan is None or catalog is None or not request.may_keep_views or request.refresh_mode == "full":
            return (), False
        if compiled.decided is not None:
            return tuple(auxiliary_query(node, catalog) for node in compiled.decided.by), False
        below = below_join(plan)
        if below is not None and self._is_worth(below.inner, compiled):
            others = frozenset[str]().union(*(other.tables for other in below.others)) & plan.tables
            if request.auxiliary_views == "always" or any(
                self._moves(compiled.tables[key], frontier) for key in others
            ):
                return (auxiliary_query(below.inner, catalog),), True
        found = (node for node in candidates(plan) if self._is_worth(node, compiled))
        return tuple(auxiliary_query(node, catalog) for node in found), False

    def _is_worth(self, node: Aggregate, compiled: CompiledView) -> bool:
        assert compiled.plan is not None
        return is_over_named_tables(node, compiled.tables) and (
            self._request.auxiliary_views == "always"
            or is_worth_keeping(node, compiled.plan.written, compiled.tables)
        )

    @staticmethod
    def _moves(table: RelationFacts, frontier: Frontier | None) -> bool:
        """Whether a table is known to change: it is kept for a view, or changed since the frontier."""
        known = frontier.sources.get(table.key) if frontier else None
        return read_marker(table.properties) is not None or (
            known is not None and not known.is_version_of(table)
        )

    def request_of(self, view: TableName, query: str, *, as_entries: bool) -> RefreshRequest:
        """The request that refreshes one of them."""
        layout = self._request.layout
        return replace(
            self._request,
            view=view,
            sql=query,
            full_refresh_allowed=True,
            layout=replace(
                StateLayout(),
                file_format=layout.file_format,
                catalog=layout.catalog,
                location_root=layout.location_root,
            ),
            comment=f"kept for {self._request.view}, which reads it and drops it",
            declared=NOTHING_DECLARED,
            auxiliary_views="never",
            takes_over=False,
            auxiliary=True,
            as_entries=as_entries,
            is_read=True,
            stamp_columns=(),
        )

    def _check(self, stored: StoredState, result: RefreshResult) -> None:
        """Raises: Conflict if its sources have other versions in this run."""
        pinned = self._sources.facts(result.state)
        if stored.frontier is None or pinned is None or pinned.version != stored.version:
            raise Conflict(f"{result.view} was written to by someone else")
        for key, source in stored.frontier.sources.items():
            now = self._sources.known(name_of(source.name))
            if now is None or (now.at != result.seen_at.get(key) and not source.is_version_of(now)):
                raise Conflict(f"{result.view} was refreshed from another version of {source.name}")
            self._read.setdefault(key, now)
