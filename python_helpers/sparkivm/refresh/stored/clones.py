"""Sources of a cloned view that were cloned too: which version of the clone its state was computed from.

tested  tests/refresh/test_clones.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sparkivm.changes.frontier import Origin, SourceFrontier
from sparkivm.engine import Engine, RelationFacts, is_another
from sparkivm.formats import STATE_FORMATS, format_of
from sparkivm.names import TableName, name_of
from sparkivm.refresh.stored.stored_state import StoredState, frontiers


def origin_of(engine: Engine, stored: StoredState) -> Origin:
    """What a clone of a state says about it: the versions since its last refresh."""
    facts, commit = stored.facts, stored.frontier_commit
    assert facts is not None and commit is not None, "a state with a frontier"
    line = STATE_FORMATS[facts.kind].line(facts, engine.commits(facts.name, commit.version - 1))
    return Origin(facts.table_id, {str(one.version): one.id for one in line if one.version >= commit.version})


def with_clones(
    engine: Engine, stored: StoredState, look_up: Callable[[TableName], RelationFacts | None]
) -> StoredState:
    """A cloned state whose frontier also names those clones here that have the rows it was computed from."""
    frontier = stored.frontier
    if frontier is None or not frontier.clones:
        return stored
    found: dict[str, SourceFrontier] = {}
    for here, there in frontier.clones.items():
        facts, known = look_up(name_of(here)), frontier.sources.get(there)
        if facts is None or facts.kind not in STATE_FORMATS or known is None:
            continue
        if (same := _same_rows(engine, facts, known)) is not None:
            found[here] = same
    return replace(stored, frontier=replace(frontier, sources={**frontier.sources, **found}))


def _same_rows(engine: Engine, clone: RelationFacts, known: SourceFrontier) -> SourceFrontier | None:
    """The version of a clone with the rows of its origin's version; None if there is none."""
    has = {field.name: field for field in clone.fields}
    for commit, frontier in frontiers(engine, clone):
        origin = frontier.origin
        cloned_as = {name: type_ for name, type_, _ in frontier.columns}
        if (
            origin.table_id == known.table_id
            and (id_ := origin.versions.get(str(known.version))) is not None
            and _is(known.commit_id, id_)
            and all(name in has and cloned_as.get(name) == has[name].type for name in known.fields)
        ):
            identity = format_of(clone).identity
            fields = {name: identity(has[name]) for name in known.fields}
            is_newest = commit.version == clone.version
            id_here = clone.commit_id if is_newest and _is(clone.commit_id, commit.id) else commit.id
            return SourceFrontier(
                str(clone.source), clone.table_id, commit.version, id_here, commit.timestamp_ms, fields
            )
    return None


def _is(known: str, id_: str) -> bool:
    """Whether the id of a relation's newest commit, which may also name the schema, is that of a commit."""
    return known.startswith(f"{id_}:") or not is_another(known, id_)
