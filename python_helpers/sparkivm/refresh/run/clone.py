"""Makes a view from another environment's: its rows and its frontier, so that a refresh continues from them.

tested  tests/refresh/test_clones.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sparkivm.changes.frontier import Frontier, Outcome
from sparkivm.digest import digest
from sparkivm.engine import EngineError, RelationFacts
from sparkivm.frontend.table_references import TableReference, references_in, replace_references
from sparkivm.marker import read_marker, state_catalog
from sparkivm.names import TableName, auxiliary_view, state_table
from sparkivm.refresh.public_view import adds_up_entries
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import RefreshResult
from sparkivm.refresh.run.attempt import Attempt
from sparkivm.refresh.run.auxiliaries import auxiliaries_of
from sparkivm.refresh.run.rebuild import replace_state
from sparkivm.refresh.stored.clones import origin_of
from sparkivm.refresh.stored.stored_state import StoredState, read_state

# A clone has the column mapping and the change feed of its origin, which Delta refuses in one statement.
_NOT_SHARED = ("DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION",)


class CannotClone(Exception):
    """Why the other relation cannot be cloned as an incremental view. Nothing was changed."""


def clone(attempt: Attempt, origin: TableName, clones: Mapping[str, str]) -> RefreshResult:
    """Create or replace the view as a copy of `origin`.

    clones  keys of states of the project: the clone → its origin
    Raises: CannotClone; ModelError; EngineError; Conflict.
    """
    engine, request = attempt.engine, attempt.request
    stored = attempt.stored()
    view = engine.describe(origin)
    marker = read_marker(view.properties) if view is not None else None
    if view is None or marker is None or marker.role is not request.view_marker.role:
        raise CannotClone(f"{origin} is not an incremental view")
    layout = replace(request.layout, catalog=state_catalog(view.properties))
    theirs = replace(request, view=origin, owner=marker.owner, layout=layout)
    found = read_state(engine, theirs)
    if found.frontier is None or found.facts is None:
        raise CannotClone(f"{origin} has no state to continue from: {found.problem}")
    if found.facts.kind != request.layout.file_format:
        raise CannotClone(f"{theirs.state} is in {found.facts.kind}, not in {request.layout.file_format}")
    select = _over(request.state, view.view_text.strip(), theirs)
    former = attempt.public.former_state
    had = stored.frontier.auxiliaries if stored.frontier is not None else ()
    read = found.frontier.sources
    mine = {here: there for here, there in clones.items() if there in read and here != there}
    auxiliaries = () if mine else found.frontier.auxiliaries  # otherwise their queries name the origins
    views = auxiliaries_of(request.view, auxiliaries)
    for number, (query, auxiliary) in enumerate(views.items(), 1):
        kept = attempt.auxiliaries.request_of(auxiliary, query, as_entries=found.frontier.adds_up_auxiliary)
        its_origin = auxiliary_view(origin, number)
        clone(replace(attempt, request=kept), its_origin, clones)
        mine[kept.state.key] = state_table(its_origin, layout.catalog).key
    is_of_it = digest(view.view_text.strip()) in found.frontier.shown_by
    frontier = replace(
        found.frontier,
        project=request.owner.project,
        model=request.owner.model,
        view=request.view.key,
        base=-1,
        columns=tuple((name, type_, "") for name, type_, _ in found.frontier.columns),  # a copy has other ids
        # Of another refresh if the origin's driver was killed: then the next run replaces the view.
        public=(digest(select), digest(select)) if is_of_it else (),
        origin=origin_of(engine, found),
        clones=mine,
        auxiliaries=auxiliaries,
        drops_auxiliaries=bool(had),
        former_state="" if former is None else former.key,
        timing=replace(found.frontier.timing, way="", started_ms=attempt.started_ms),
        outcome=Outcome("clone", detail=str(origin)),
    )
    _copy(attempt, stored, frontier, found.facts)
    attempt.public.create(select, frontier, adds_up=adds_up_entries(view))
    return attempt.result("clone", form="create", explanation=f"cloned from {origin}")


def _copy(attempt: Attempt, stored: StoredState, frontier: Frontier, origin: RelationFacts) -> None:
    """Create the state as a copy that shares the origin's files if it can, else with files of its own."""
    request = attempt.request
    if stored.facts is None:
        shared = attempt.format.clone(request.state, origin, attempt.state_properties, request.state_location)
        if shared is not None:
            try:
                attempt.commit(stored, frontier, shared)
                return
            except EngineError as error:
                if error.condition not in _NOT_SHARED:
                    raise
    # Our layout names the view's columns, the copy has those of the origin's state.
    layout = replace(request.layout, partition_by=origin.partition_columns, liquid_clustered_by=())
    attempt = replace(attempt, request=replace(request, layout=layout))
    replace_state(attempt, stored, frontier, f"select * from {origin.pinned}")


def _over(state: TableName, text: str, origin: RefreshRequest) -> str:
    """The text of a public view, over another state."""

    def text_of(reference: TableReference) -> str | None:
        return state.sql if reference.parts == origin.state.parts else None

    references = references_in(origin.view, text)  # none if somebody altered the view
    replaced = text if references is None else replace_references(text, references, text_of)
    if replaced == text:
        raise CannotClone(f"the text of {origin.view} does not read {origin.state}")
    return replaced
