"""Drops a view with everything that is kept for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sparkivm.engine import Engine, EngineError
from sparkivm.errors import ModelError
from sparkivm.marker import Marker, Role, state_catalog
from sparkivm.names import MOST_NUMBERED, TableName, auxiliary_view, state_table, stem_of
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.ownership import (
    ROLES_OF_A_VIEW,
    drop_in_order,
    drop_own,
    is_ours,
    relations_kept_for,
)


def drop_incremental_view(
    engine: Engine, view: TableName, project: str, model: str | None = None, catalogs: Iterable[str] = ()
) -> str:
    """Drop a view, its state, its auxiliary views and the steps that interrupted refreshes left.

    Relations without the right marker stay, also those that were put aside. After an interruption, another
    call drops the rest.

    project  the current dbt project
    model    unique_id of the view's model; None if there is no such model any more
    catalogs that may have its state, besides the view's
    Returns: what was dropped, for the console.
    Raises: ModelError if nothing is kept for the view.
    """

    def is_kept_for_it(marker: Marker) -> bool:
        owner = marker.owner
        is_the_views = (owner.project, owner.view) == (project, view.key) and model in (None, owner.model)
        return is_the_views and marker.role in ROLES_OF_A_VIEW

    recording = RecordingEngine(engine)
    found = engine.describe(view)
    catalog = state_catalog(found.properties) if found is not None else None
    among = {catalog} if catalog else set[str]()
    for other in sorted({*catalogs} - among):
        try:
            engine.names_like(replace(view, catalog=other))
        except EngineError as error:
            recording.warn(f"catalog {other} was not searched: {error}")
        else:
            among.add(other)
    drop_in_order(recording, relations_kept_for(engine, view, is_kept_for_it, sorted(among)))
    if not recording.statements:
        what = f"project {project} has no table or view for it"
        raise ModelError(view, what, "check the name; if the project was renamed, add project: <former name>")
    return "\n".join((*recording.statements, *recording.warnings))


def drop_auxiliaries(engine: RecordingEngine, request: RefreshRequest, first: int) -> None:
    """Drop a view's auxiliary views from this number on, and their states."""
    view, catalog = request.view, request.layout.catalog
    views = [auxiliary_view(view, number) for number in range(first, MOST_NUMBERED + 1)]
    keys = {name.key for one in views for name in (one, state_table(one, catalog))}
    wanted = {Marker(request.owner, role) for role in (Role.AUXILIARY_VIEW, Role.AUXILIARY_STATE)}
    found = relations_kept_for(engine, view, wanted.__contains__, [catalog] if catalog else ())
    drop_in_order(engine, (one for one in found if one[0].name.key in keys))


def drop_former_states(engine: RecordingEngine, request: RefreshRequest, state: TableName) -> None:
    """Drop the state that a view had in another catalog, and those that its auxiliary views had there.

    Raises: EngineError.
    """
    view, catalog = request.view, state.catalog
    of_auxiliaries = Marker(request.owner, Role.AUXILIARY_STATE)
    numbers = range(1, MOST_NUMBERED + 1)
    keys = {state_table(auxiliary_view(view, number), catalog).key for number in numbers}
    among = engine.names_like(TableName(view.schema, stem_of(view.identifier), catalog))
    found = [(state, request.state_marker), *((name, of_auxiliaries) for name in among if name.key in keys)]
    for name, marker in found:
        facts = engine.describe(name)
        if facts is not None and is_ours(facts, marker):
            drop_own(engine, facts)
