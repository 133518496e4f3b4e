"""What we know of a view and its sources before we decide how to refresh it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from sparkivm.changes.frontier import Frontier, SourceFrontier
from sparkivm.errors import ModelError
from sparkivm.names import TableName
from sparkivm.refresh.model.compiled_view import CompiledView, compile_view
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.source_catalog import SourceCatalog
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.clones import with_clones
from sparkivm.refresh.stored.stored_state import StoredState

_NO_VIEWS: Mapping[str, TableName] = MappingProxyType({})
_NO_VERSIONS: Mapping[str, SourceFrontier] = MappingProxyType({})


@dataclass(frozen=True)
class Observation:
    """All that a decision depends on, except the probes of the changed rows.

    request   with the query's SQL as this session reads it
    settings  of the session that decide the result
    moments   that the plan depends on, as literals at the run's instant
    adds_up   whether the public view adds up several entries of a group
    """

    request: RefreshRequest
    stored: StoredState
    settings: Mapping[str, str]
    compiled: CompiledView
    moments: Mapping[str, str]
    adds_up: bool


def observe(
    engine: RecordingEngine,
    sources: Sources,
    request: RefreshRequest,
    stored: StoredState,
    settings: Mapping[str, str],
    public: PublicView,
    auxiliaries: Mapping[str, TableName],
) -> Observation:
    """Compile the model against its sources as this run sees them.

    auxiliaries  views that inner aggregates are read from, by their queries
    Raises: ModelError if Spark refuses the model; EngineError.
    """
    stored = with_clones(engine, stored, sources.known)
    frontier = stored.frontier
    same = frontier is not None and dict(frontier.settings) == dict(settings)
    compiled = compiled_for(engine, sources, request, frontier if same else None, auxiliaries)
    return Observation(
        request, stored, settings, compiled, _moments(sources, compiled), public.adds_up(compiled)
    )


def recompiled(sources: Sources, seen: Observation, compiled: CompiledView) -> Observation:
    """The same, with the model compiled in another way."""
    return replace(seen, compiled=compiled, moments=_moments(sources, compiled))


def _moments(sources: Sources, compiled: CompiledView) -> Mapping[str, str]:
    return sources.moments(compiled.plan.moments if compiled.plan else ())


def compiled_for(
    engine: RecordingEngine,
    sources: Sources,
    request: RefreshRequest,
    frontier: Frontier | None = None,
    auxiliaries: Mapping[str, TableName] = _NO_VIEWS,
    versions: Mapping[str, SourceFrontier] = _NO_VERSIONS,
) -> CompiledView:
    """The model of a request, over auxiliary views by their queries.

    frontier  has Spark's answers, which are reused for the same text
    versions  of sources, by their keys, to compile at instead of the newest
    Raises: ModelError if Spark refuses the model, or its rows cannot be stamped as it wants.
    """
    catalog = SourceCatalog(sources, request.view, request.state, versions)
    compiled = compile_view(engine, request, catalog, frontier, auxiliaries)
    if request.stamp_columns and compiled.fallback is not None:
        why = compiled.fallback
        raise ModelError(
            request.view,
            f"stamp_columns is set, but the view is not incremental, so each run would stamp all rows: {why}",
            why.reason.way_out,
            why.place,
        )
    return compiled
