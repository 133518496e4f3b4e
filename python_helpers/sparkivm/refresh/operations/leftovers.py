"""Relations that the package created and no model of the project needs any more.

tested  tests/refresh/test_leftovers.py, tests/dbt/test_names.py
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sparkivm.changes.source_declaration import NOTHING_DECLARED, DeclaredSources
from sparkivm.engine import Engine, EngineError, RelationFacts
from sparkivm.errors import DeclarationError
from sparkivm.formats import STATE_FORMATS
from sparkivm.marker import STATES, Marker, Role
from sparkivm.names import TableName, name_of
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.sources import is_mirrored
from sparkivm.refresh.stored.ownership import drop_own, marked_relations
from sparkivm.refresh.stored.staging import is_abandoned_step
from sparkivm.refresh.stored.stored_state import newest_frontier


@dataclass(frozen=True)
class Leftover:
    """One relation, why nothing needs it, and what became of it.

    problem  why it stays, or what a drop could not clean up; "" without one
    """

    relation: RelationFacts
    marker: Marker
    why: str
    dropped: bool = False
    problem: str = ""

    @property
    def stays(self) -> bool:
        return bool(self.problem) and not self.dropped

    def as_json(self) -> dict[str, object]:
        owner, role = self.marker.owner, self.marker.role.value
        return _entry(self.relation.name, role, owner.model, self.why, self.dropped, self.problem)

    def __str__(self) -> str:
        said = (f"{self.marker.role.value}, {self.why}", "dropped" if self.dropped else "", self.problem)
        return f"{self.relation.name}: {'; '.join(filter(None, said))}"


@dataclass(frozen=True)
class Unread:
    """A relation with a name like ours that cannot be read, so it is not known whose it is; or a schema."""

    name: TableName
    error: str

    @property
    def problem(self) -> str:
        return f"it cannot be read: {self.error}"

    def as_json(self) -> dict[str, object]:
        return _entry(self.name, None, None, "", False, self.problem)

    def __str__(self) -> str:
        return f"{self.name}: {self.problem}"


Found = Leftover | Unread


def _entry(
    name: TableName, role: str | None, model: str | None, why: str, dropped: bool, problem: str
) -> dict[str, object]:
    return {
        "relation": str(name),
        "role": role,
        "model": model,
        "why": why,
        "dropped": dropped,
        "problem": problem,
    }


def leftovers(
    engine: Engine,
    project: str,
    schemas: Iterable[TableName],
    views: Mapping[str, str],
    sources: Collection[str],
    declared: DeclaredSources = NOTHING_DECLARED,
) -> list[Found]:
    """Relations of a project in these schemas that none of its models needs, readers first.

    Those that cannot be read are the last ones. They may belong to another project.

    schemas   names without an identifier
    views     the project's incremental views: unique_id of the model by the view's key
    sources   keys of everything that a model of the project may read
    declared  what the project declares of these
    """
    unread, found, kept = list[Unread](), list[Leftover](), list[RelationFacts]()

    def cannot_read(name: TableName, error: EngineError) -> None:
        unread.append(Unread(name, str(error)))

    def needs_mirror(source: str) -> bool:
        return source in sources and _needs_mirror(engine, source, declared)

    for facts, marker in (one for schema in schemas for one in marked_relations(engine, schema, cannot_read)):
        why = _why(facts, marker, views, needs_mirror) if marker.owner.project == project else ""
        if why:
            found.append(Leftover(facts, marker, why))
        elif marker.role in STATES:
            kept.append(facts)
    if any(one.marker.role is Role.MIRROR for one in found):
        read = _read_by(engine, kept, cannot_read)
        found = [_with_readers(one, unread) for one in found if not _is_read(one, read)]
    in_order = sorted(found, key=lambda one: (one.relation.kind != "view", one.relation.name.key))
    return [*in_order, *sorted(unread, key=lambda one: one.name.key)]


def _is_read(one: Leftover, read: Collection[str]) -> bool:
    return one.marker.role is Role.MIRROR and one.relation.table_id in read


def _with_readers(one: Leftover, unread: Sequence[Unread]) -> Leftover:
    """A mirror stays while a state that may read it cannot be asked."""
    if one.marker.role is not Role.MIRROR or not unread:
        return one
    return replace(one, problem=f"it stays, because {unread[0].name} may read it and cannot be read itself")


def _read_by(
    engine: Engine, states: Iterable[RelationFacts], cannot_read: Callable[[TableName, EngineError], None]
) -> set[str]:
    """The ids of the tables that views read: those of other projects too, and what is below plain views."""
    read: set[str] = set()
    for facts in states:
        if facts.kind not in STATE_FORMATS:
            continue
        try:
            newest = newest_frontier(engine, facts)
        except EngineError as error:
            cannot_read(facts.name, error)
            continue
        if newest is not None:
            read |= {source.table_id for source in newest[1].sources.values()}
    return read


def drop_leftovers(engine: Engine, found: Iterable[Found]) -> list[Found]:
    """Drop each relation that can be dropped.

    A state stays if its view cannot be dropped: without the state, nobody could read or find the view.

    Returns: the same relations, with what became of them.
    """
    found, done = list(found), list[Found]()
    still_there = {one.name.key for one in found if isinstance(one, Unread)}
    for one in found:
        if isinstance(one, Unread) or one.stays:
            done.append(one)
        elif one.marker.role in STATES and one.marker.owner.view in still_there:
            done.append(replace(one, problem="it stays, because a view that reads it cannot be dropped"))
        else:
            now = _dropped(engine, one)
            done.append(now)
            if now.stays and one.relation.kind == "view":
                still_there.add(one.marker.owner.view)
    return done


def _dropped(engine: Engine, one: Leftover) -> Leftover:
    recording = RecordingEngine(engine)
    try:
        drop_own(recording, one.relation)
    except EngineError as error:
        return replace(one, problem=f"it cannot be dropped: {error}")
    return replace(one, dropped=True, problem="; ".join(recording.warnings))


def _needs_mirror(engine: Engine, source: str, declared: DeclaredSources) -> bool:
    """Whether a run would read a source through a mirror; also if that cannot be known.

    Such a mirror may have no reader yet: `capture_changes` makes it before a view is built.
    """
    try:
        facts = engine.describe(name_of(source))
        return facts is None or is_mirrored(facts, declared)
    except (EngineError, DeclarationError):
        return True


def _why(
    facts: RelationFacts, marker: Marker, views: Mapping[str, str], needs_mirror: Callable[[str], bool]
) -> str:
    """Why nothing needs it; "" if something does."""
    owner = marker.owner
    match marker.role:
        case Role.MIRROR:
            return "" if needs_mirror(owner.model) else f"the project reads no mirror of {owner.model}"
        case Role.PUT_ASIDE:
            return f"was {owner.view} before the view" if facts.name.key != owner.view else ""
        case Role.STEP:
            return "left by an interrupted refresh" if is_abandoned_step(facts.name) else ""
    if views.get(owner.view) == owner.model:
        return ""
    return f"{owner.model} is not built as the view {owner.view}"
