"""What a refresh may replace: relations with our marker and the right owner. Others are errors."""

from __future__ import annotations

from collections.abc import Mapping

from sparkivm.engine import Engine, RelationFacts
from sparkivm.errors import ModelError
from sparkivm.marker import Marker, Role, read_marker
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.stored.stored_state import is_state_of

_KINDS = {"delta": "a Delta table", "iceberg": "an Iceberg table", "view": "a view", "other": "a table"}


def check_state_is_ours(engine: Engine, request: RefreshRequest, found: RelationFacts | None) -> None:
    """Raises: ModelError if another relation has the state's name, or its files the state's location."""
    if found is None:
        location = request.state_location
        properties = engine.properties_at(location) if location else None
        if properties is not None and read_marker(properties) != request.state_marker:
            raise ModelError(
                str(request.view),
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
    marker = read_marker(found.properties)
    do = "rename or drop that relation, or give the model another alias"
    if marker is not None and marker.owner.project != request.owner.project:
        do += f"; if project {marker.owner.project} was renamed, drop_incremental_view has an argument for it"
    return ModelError(
        str(request.view),
        f"{found.name}, the name of its {role.value}, is taken by "
        f"{_whose(found.properties, _KINDS[found.kind])}",
        do,
    )


def _whose(properties: Mapping[str, str], kind: str) -> str:
    marker = read_marker(properties)
    return str(marker) if marker else f"{kind} that dbt-sparkivm did not create"
