"""What we know of a view and its sources before we decide how to refresh it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Engine, RelationFacts
from sparkivm.names import TableName
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.refresh.model.compiled_view import CompiledView, compile_view
from sparkivm.refresh.model.state_layout import check_catalog
from sparkivm.refresh.public_view import PublicView
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.sources import Sources
from sparkivm.refresh.stored.clones import with_clones
from sparkivm.refresh.stored.ownership import check_state_is_ours
from sparkivm.refresh.stored.stored_state import StoredState, read_state


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

    @property
    def plan(self) -> ViewPlan:
        """The plan of a view that can be refreshed from changes; so are `state` and `frontier`."""
        assert self.compiled.plan is not None
        return self.compiled.plan

    @property
    def state(self) -> RelationFacts:
        assert self.stored.facts is not None
        return self.stored.facts

    @property
    def frontier(self) -> Frontier:
        assert self.stored.frontier is not None
        return self.stored.frontier


def own_state(engine: Engine, request: RefreshRequest, public: PublicView) -> StoredState:
    """The state as it is stored. If it is in another catalog, that is its problem.

    Raises: ModelError if another relation has its name, or the view's, or its catalog cannot have it.
    """
    stored = read_state(engine, request)
    moved = public.moved if stored.facts is None else None
    check_state_is_ours(engine, request, stored.facts)
    check_catalog(engine, request, stored.facts)
    public.check_name()
    return stored if moved is None else replace(stored, problem=moved)


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
    if frontier is not None and (request.full_refresh or dict(frontier.settings) != dict(settings)):
        frontier = None  # Spark has to answer again
    compiled = compile_view(engine, sources, request, frontier, auxiliaries)
    return Observation(
        request, stored, settings, compiled, _moments(sources, compiled), public.adds_up(compiled)
    )


def recompiled(sources: Sources, seen: Observation, compiled: CompiledView) -> Observation:
    """The same, with the model compiled in another way."""
    return replace(seen, compiled=compiled, moments=_moments(sources, compiled))


def _moments(sources: Sources, compiled: CompiledView) -> Mapping[str, str]:
    return sources.moments(compiled.plan.moments if compiled.plan else ())
