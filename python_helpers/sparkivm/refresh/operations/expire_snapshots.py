"""Expire old snapshots of the Iceberg tables of a project, except those that its views still need.

A view needs the snapshot that holds its frontier, and of each source the snapshot that its last refresh read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timezone

from sparkivm.engine import Engine, RelationFacts
from sparkivm.formats import STATE_FORMATS
from sparkivm.marker import Role
from sparkivm.names import TableName
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.owned import marked_relations
from sparkivm.refresh.stored.stored_state import newest_frontier

_STATES = (Role.STATE, Role.AUXILIARY_STATE)


def expire_snapshots(
    engine: Engine, project: str, schemas: Iterable[TableName], now_ms: int, days: float
) -> list[str]:
    """Expire what is not needed.

    schemas  names without an identifier
    days     younger snapshots are kept
    Returns: a line per table from which snapshots were removed.
    Raises: EngineError.
    """
    recording, lines = RecordingEngine(engine), list[str]()
    tables = [
        (facts, marker.role)
        for schema in schemas
        for facts, marker in marked_relations(engine, schema)
        if marker.owner.project == project and facts.kind in STATE_FORMATS
    ]
    needed = _needed(engine, [facts for facts, role in tables if role in _STATES])
    for facts, _ in tables:
        needed_ms = needed.get(facts.table_id, math.inf)
        expiry = STATE_FORMATS[facts.kind].expiry(facts, now_ms, days, needed_ms)
        if expiry is None:
            continue
        former = engine.commits(facts.name, -1)[:-1]
        number = sum(commit.timestamp_ms < expiry.before_ms for commit in former)
        if number:
            recording.write(expiry.write)
            lines.append(
                f"{facts.name}: {number} snapshots from before {_time(expiry.before_ms)} are expired"
            )
    return lines


def _needed(engine: Engine, states: Iterable[RelationFacts]) -> dict[str, int]:
    """The time in ms of the oldest snapshot that is needed of a table, by the table's id."""
    needed: dict[str, int] = {}

    def need(table_id: str, timestamp_ms: int) -> None:
        needed[table_id] = min(timestamp_ms, needed.get(table_id, timestamp_ms))

    for facts in states:
        found = newest_frontier(engine, facts)
        if found is not None:
            commit, frontier = found
            need(facts.table_id, commit.timestamp_ms)
            for source in frontier.sources.values():
                need(source.table_id, source.timestamp_ms)
    return needed


def _time(timestamp_ms: int) -> str:
    return datetime.fromtimestamp(timestamp_ms / 1000, timezone.utc).isoformat(" ", "seconds")
