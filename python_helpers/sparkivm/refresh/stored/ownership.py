"""Relations by their markers: what a refresh may replace or drop, and what is kept for a view.

A refresh replaces only relations with our marker and the right owner. Others are errors.

tested  tests/refresh/test_ownership.py, tests/unit/test_kept_snapshots.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from sparkivm.engine import Engine, EngineError, RelationFacts
from sparkivm.errors import ModelError
from sparkivm.formats import STATE_FORMATS
from sparkivm.marker import Marker, Owner, Role, read_marker
from sparkivm.names import STATE_SUFFIX, TableName, name_of, stem_of
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.kept_snapshots import release_snapshots
from sparkivm.refresh.stored.stored_state import is_state_of

ROLES_OF_A_VIEW = (Role.PUBLIC_VIEW, Role.AUXILIARY_VIEW, Role.STEP, Role.AUXILIARY_STATE, Role.STATE)


def check_state_is_ours(engine: Engine, request: RefreshRequest, found: RelationFacts | None) -> None:
    """Raises: ModelError if another relation has the state's name, or its files the state's location."""
    if found is None:
        location = request.state_location
        properties = engine.properties_at(location) if location else None
        if properties is not None and read_marker(properties) != request.state_marker:
            raise ModelError(
                request.view,
                f"{location}, where its state would be stored, holds {_whose(properties, 'a Delta table')}",
                "choose another location_root, or remove these files",
            )
        return
    if not is_state_of(engine, found, request.state_marker):
        raise in_the_way(request, found, request.state_marker.role)


def is_ours(found: RelationFacts, marker: Marker) -> bool:
    """Whether a relation has this marker, so that we may replace or drop it."""
    return read_marker(found.properties) == marker


def in_the_way(request: RefreshRequest, found: RelationFacts, role: Role) -> ModelError:
    """The error for a relation that has a name which the view needs."""
    marker, owner = read_marker(found.properties), request.owner
    do = "rename or drop that relation"
    if marker is not None and marker.fits(found.name) and _was_another_model(marker, owner):
        do = f"run `dbt run-operation drop_incremental_view --args '{{view: {owner.view}}}'`"
    do += ", or give the model another alias"
    if marker is not None and marker.owner.project != owner.project:
        was = marker.owner.project
        do += f"; if project {was} was renamed, run drop_incremental_view with project: {was}"
    return ModelError(
        request.view,
        f"{found.name}, the name of its {role.value}, is taken by {_whose(found.properties, found.is_a)}",
        do,
    )


def _was_another_model(marker: Marker, owner: Owner) -> bool:
    """Whether a relation is kept for the same view, when its model had another name or version."""
    of_view = (marker.owner.project, marker.owner.view) == (owner.project, owner.view)
    return of_view and marker.owner.model != owner.model and marker.role in ROLES_OF_A_VIEW


def _whose(properties: Mapping[str, str], kind: str) -> str:
    marker = read_marker(properties)
    return str(marker) if marker else f"{kind} that dbt-sparkivm did not create"


def relations_kept_for(
    engine: Engine, view: TableName, is_wanted: Callable[[Marker], bool], catalogs: Iterable[str] = ()
) -> Iterator[tuple[RelationFacts, Marker]]:
    """Relations in the view's schema whose names begin with the view's, and whose marker is wanted.

    catalogs  that have states, besides the view's
    """
    stem = stem_of(view.identifier)
    if stem == view.identifier:
        stem += STATE_SUFFIX
    names = [view, *engine.names_like(replace(view, identifier=stem))]
    for catalog in catalogs:
        names += engine.names_like(TableName(view.schema, stem, catalog))
    for name in names:
        facts = engine.describe(name)
        marker = read_marker(facts.properties) if facts is not None else None
        if facts is not None and marker is not None and marker.fits(facts.name) and is_wanted(marker):
            yield facts, marker


def marked_relations(
    engine: Engine, schema: TableName, cannot_read: Callable[[TableName, EngineError], None]
) -> Iterator[tuple[RelationFacts, Marker]]:
    """Marked relations of a schema: those with our suffixes, and the public views of the states.

    cannot_read  gets the name of each relation that cannot be read, or of the schema; it may raise
    """
    try:
        listed = engine.names_like(schema)
    except EngineError as error:
        cannot_read(schema, error)
        return
    names = {name.key: name for name in listed if "__ivm" in name.identifier.lower()}
    seen: set[str] = set()
    while names:
        key, name = names.popitem()
        seen.add(key)
        try:
            facts = engine.describe(name)
        except EngineError as error:
            cannot_read(name, error)
            continue
        marker = read_marker(facts.properties) if facts else None
        if facts is None or marker is None or not marker.fits(facts.name):
            continue
        yield facts, marker
        if marker.role is Role.STATE and marker.owner.view not in seen:
            names[marker.owner.view] = name_of(marker.owner.view)


def drop_in_order(engine: RecordingEngine, found: Iterable[tuple[RelationFacts, Marker]]) -> None:
    """Drop relations with the roles of a view.

    Readers come before what they read, so an interrupted drop leaves no view that cannot be read.
    """
    for facts, _ in sorted(found, key=lambda one: ROLES_OF_A_VIEW.index(one[1].role)):
        drop_own(engine, facts)


def drop_own(engine: RecordingEngine, relation: RelationFacts) -> None:
    """Drop a relation whose marker was checked."""
    if relation.kind == "view":
        engine.run("drop_own_view", view=relation.name.sql)
    elif relation.kind in STATE_FORMATS:
        release_snapshots(engine, relation, None)
        engine.write(STATE_FORMATS[relation.kind].drop(relation.name))
    else:
        engine.run("drop_own_table", table=relation.name.sql)
