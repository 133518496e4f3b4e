"""Relations that the package created and no model of the project needs any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sparkivm.engine import Engine, RelationFacts
from sparkivm.formats import STATE_FORMATS
from sparkivm.marker import Marker, Role
from sparkivm.names import TableName
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.ownership import drop_own, marked_relations
from sparkivm.refresh.stored.staging import is_abandoned_step
from sparkivm.refresh.stored.stored_state import newest_frontier


@dataclass(frozen=True)
class Leftover:
    """One relation, and why nothing needs it."""

    relation: RelationFacts
    marker: Marker
    why: str

    def as_json(self) -> dict[str, str]:
        owner, role = self.marker.owner, self.marker.role.value
        return {"relation": str(self.relation.name), "role": role, "model": owner.model, "why": self.why}

    def __str__(self) -> str:
        return f"{self.relation.name}: {self.marker.role.value}, {self.why}"


def leftovers(
    engine: Engine,
    project: str,
    schemas: Iterable[TableName],
    views: Mapping[str, str],
    sources: Collection[str],
) -> list[Leftover]:
    """Relations of a project in these schemas that none of its models needs, readers first.

    schemas  names without an identifier
    views    the project's incremental views: unique_id of the model by the view's key
    sources  keys of everything that a model of the project may read
    """
    marked = [one for schema in schemas for one in marked_relations(engine, schema)]
    found, kept = list[Leftover](), list[RelationFacts]()
    for facts, marker in marked:
        why = _why(facts, marker, views, sources) if marker.owner.project == project else ""
        if why:
            found.append(Leftover(facts, marker, why))
        elif marker.role in (Role.STATE, Role.AUXILIARY_STATE):
            kept.append(facts)
    if any(one.marker.role is Role.MIRROR for one in found):
        read = _read_by(engine, kept)
        found = [
            one for one in found if one.marker.role is not Role.MIRROR or one.relation.table_id not in read
        ]
    return sorted(found, key=lambda one: (one.relation.kind != "view", one.relation.name.key))


def _read_by(engine: Engine, states: Iterable[RelationFacts]) -> set[str]:
    """The ids of the tables that views read: those of other projects too, and what is below plain views."""
    newest = (newest_frontier(engine, facts) for facts in states if facts.kind in STATE_FORMATS)
    return {source.table_id for found in newest if found for source in found[1].sources.values()}


def drop_leftovers(engine: Engine, found: Iterable[Leftover]) -> list[str]:
    """Returns: the statements, and what could not be cleaned up."""
    recording = RecordingEngine(engine)
    for one in found:
        drop_own(recording, one.relation)
    return [*recording.statements, *recording.warnings]


def _why(facts: RelationFacts, marker: Marker, views: Mapping[str, str], sources: Collection[str]) -> str:
    """Why nothing needs it; "" if something does."""
    owner = marker.owner
    match marker.role:
        case Role.MIRROR:
            return "" if owner.model in sources else f"the project does not read {owner.model}"
        case Role.PUT_ASIDE:
            return f"was {owner.view} before the view" if facts.name.key != owner.view else ""
        case Role.STEP:
            return "left by an interrupted refresh" if is_abandoned_step(facts.name) else ""
    if views.get(owner.view) == owner.model:
        return ""
    return f"{owner.model} is not built as the view {owner.view}"
