"""Puts aside what a model was before it became an incremental view: renames it, never drops it."""

from __future__ import annotations

from itertools import count

from sparkivm.engine import RelationFacts
from sparkivm.marker import PROPERTIES, Marker, Owner, Role
from sparkivm.names import MOST_NUMBERED, TableName, name_aside
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.owned import relations_kept_for, sql_kind


def put_aside(engine: RecordingEngine, found: RelationFacts, owner: Owner) -> TableName:
    """Rename a relation that has a view's name. Returns: its new name.

    We mark it first: then `bring_back` finds it if this process ends in between.
    """
    aside = next(
        name for number in count(1) if engine.describe(name := name_aside(found.name, number)) is None
    )
    marker = Marker(owner, Role.PUT_ASIDE)
    kind = sql_kind(found)
    relation, properties = found.name.sql, marker.properties
    engine.run("mark_relation", kind=kind, relation=relation, tblproperties=properties)
    engine.run("rename_relation_to", kind=kind, relation=relation, name=aside.sql)
    return aside


def bring_back(engine: RecordingEngine, view: TableName, owner: Owner) -> None:
    """Give the last relation that was put aside its name back, if the name is free."""
    if engine.describe(view) is not None:
        return
    marker = Marker(owner, Role.PUT_ASIDE)
    found = {facts.name.key: facts for facts, _ in relations_kept_for(engine, view, marker.__eq__)}
    names = (name_aside(view, number).key for number in range(MOST_NUMBERED, 0, -1))
    newest = next((found[key] for key in names if key in found), None)
    if newest is None:
        return
    kind = sql_kind(newest)
    engine.run("rename_relation_to", kind=kind, relation=newest.name.sql, name=view.sql)
    engine.run("unmark_relation", kind=kind, relation=view.sql, names=PROPERTIES)
