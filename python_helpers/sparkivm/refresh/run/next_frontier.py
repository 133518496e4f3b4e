"""What a refresh records: the frontier of the state that it commits."""

from __future__ import annotations

from sparkivm.changes.frontier import Frontier, SourceFrontier
from sparkivm.changes.state_columns import as_stored
from sparkivm.digest import digest
from sparkivm.engine import Engine, RelationFacts
from sparkivm.plan.state import GroupState
from sparkivm.refresh.model.pinned_text import may_read_later_rows
from sparkivm.refresh.observation import Observation
from sparkivm.refresh.public_view import public_texts


def next_frontier(engine: Engine, seen: Observation, old: Frontier | None = None) -> Frontier:
    """The frontier of a state that is computed from the sources as they were seen.

    old  of the last refresh; it has the times of unchanged versions
    """
    request, compiled = seen.request, seen.compiled
    plan = compiled.plan
    needed = compiled.tables.keys() if plan is None else plan.tables | compiled.behind
    read, sources = compiled.fields_read, dict[str, SourceFrontier]()
    for key, facts in compiled.tables.items():
        if key not in needed:
            continue
        commit_id, timestamp_ms = _commit_of(engine, facts, old.sources.get(key) if old else None)
        sources[key] = SourceFrontier(
            str(facts.source), facts.table_id, facts.version, commit_id, timestamp_ms, read[key]
        )
    kind = "full" if plan is None else "group" if isinstance(plan.state, GroupState) else "bag"
    undecided = compiled.fallback is not None and not compiled.complete
    certain = not undecided and not may_read_later_rows(request.sql, compiled)
    return Frontier(
        project=request.owner.project,
        model=request.owner.model,
        view=request.view.key,
        kind=kind,  # type: ignore[arg-type]
        text=digest(request.sql),
        plan=compiled.plan_hash,
        settings=seen.settings,
        sources=sources,
        views=compiled.views,
        schemas=compiled.schemas,
        fields=tuple((f.name, f.type) for f in compiled.fields),
        types=compiled.types,
        columns=as_stored(compiled.columns, request.format.stored),
        content="" if plan is None else compiled.content_hash(plan.state.names),
        public=tuple(map(digest, public_texts(compiled, request))),
        deterministic=certain,
        reason=compiled.fallback.reason.name if compiled.fallback else "",
        moments=seen.moments,
        auxiliaries=tuple(compiled.auxiliaries),
        adds_up_auxiliary=compiled.adds_up_auxiliary,
        resolved=compiled.resolved,
    )


def _commit_of(engine: Engine, source: RelationFacts, known: SourceFrontier | None) -> tuple[str, int]:
    """Id and time of the commit of a source's version: as described, from the last frontier, or its log."""
    if known is not None and known.at == source.at:
        return known.commit_id, known.timestamp_ms
    found = source.commit
    if found is None:
        commits = engine.commits(source.name, source.version - 1)
        found = next((c for c in commits if c.version == source.version), None)
    if found is None:
        return source.commit_id, 0
    return source.commit_id or found.id, found.timestamp_ms
