"""Relations that the package created and no model of the project needs any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from sparkivm.engine import Engine, RelationFacts
from sparkivm.marker import Marker, Role, read_marker
from sparkivm.names import TableName, name_of
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.owned import drop_own
from sparkivm.refresh.stored.staging import is_abandoned_step


@dataclass(frozen=True)
class Leftover:
    """One relation, and why nothing needs it."""

    relation: RelationFacts
    marker: Marker
    why: str

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
    found = []
    for schema in schemas:
        for facts, marker in _marked(engine, schema):
            why = _why(facts, marker, views, sources) if marker.owner.project == project else ""
            if why:
                found.append(Leftover(facts, marker, why))
    return sorted(found, key=lambda one: (one.relation.kind != "view", one.relation.name.key))


def drop_leftovers(engine: Engine, found: Iterable[Leftover]) -> list[str]:
    """Returns: the statements."""
    recording = RecordingEngine(engine)
    for one in found:
        drop_own(recording, one.relation)
    return recording.statements


def _marked(engine: Engine, schema: TableName) -> Iterator[tuple[RelationFacts, Marker]]:
    """Marked relations of a schema: those with our suffixes, and the public views of the states."""
    names = {name.key: name for name in engine.names_like(schema) if "__ivm" in name.identifier.lower()}
    seen: set[str] = set()
    while names:
        key, name = names.popitem()
        seen.add(key)
        facts = engine.describe(name)
        marker = read_marker(facts.properties) if facts else None
        if facts is None or marker is None:
            continue
        yield facts, marker
        if marker.role is Role.STATE and marker.owner.view not in seen:
            names[marker.owner.view] = name_of(marker.owner.view)


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
