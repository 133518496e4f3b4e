"""Expire old snapshots of the Iceberg tables of a project, except those that its views still need.

A view needs the snapshot that holds its frontier, and of each source the snapshot that its last refresh read.

tested  tests/unit/test_expire_snapshots.py, tests/spark/test_state_catalog.py
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timezone

from sparkivm.engine import Engine, EngineError, RelationFacts
from sparkivm.formats import STATE_FORMATS
from sparkivm.marker import STATES, Role
from sparkivm.names import TableName
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.ownership import marked_relations
from sparkivm.refresh.stored.stored_state import newest_frontier


def expire_snapshots(
    engine: Engine, project: str, schemas: Iterable[TableName], now_ms: int, days: float
) -> list[str]:
    """Expire what is not needed by any view with a state in these schemas.

    schemas  names without an identifier
    days     younger snapshots are kept
    Returns: a line per table from which snapshots were removed, or cannot be.
    Raises: EngineError if a state cannot be read, so that we do not know what it needs.
    """
    recording, lines = RecordingEngine(engine), list[str]()
    found = [one for schema in schemas for one in marked_relations(engine, schema, _cannot_read)]
    needed = _needed(engine, [facts for facts, marker in found if marker.role in STATES])
    for facts, marker in found:
        ours = marker.owner.project == project and marker.role in (*STATES, Role.MIRROR)
        if not ours or facts.kind not in STATE_FORMATS:
            continue
        needed_ms = needed.get(facts.table_id, math.inf)
        expiry = STATE_FORMATS[facts.kind].expiry(facts, now_ms, days, needed_ms)
        if expiry is None:
            continue
        former = engine.commits(facts.name, -1)[:-1]
        if any(commit.timestamp_ms < expiry.before_ms for commit in former):
            try:
                recording.write(expiry.write)
            except EngineError as error:
                lines.append(f"{facts.name}: its snapshots cannot be expired: {error}")
            else:
                lines.append(f"{facts.name}: expired the snapshots older than {_time(expiry.before_ms)}")
    return lines


def _cannot_read(name: TableName, error: EngineError) -> None:
    """Raises: EngineError."""
    what = f"{name} cannot be read, so the snapshots that it needs are unknown: {error}"
    raise EngineError(what, error.condition) from error


def _needed(engine: Engine, states: Iterable[RelationFacts]) -> dict[str, int]:
    """The time in ms of the oldest snapshot that is needed of a table, by the table's id."""
    needed: dict[str, int] = {}

    def need(table_id: str, timestamp_ms: int) -> None:
        needed[table_id] = min(timestamp_ms, needed.get(table_id, timestamp_ms))

    for facts in states:
        if facts.kind not in STATE_FORMATS:
            raise EngineError(f"{facts.name} cannot be read, so the snapshots that it needs are unknown")
        found = newest_frontier(engine, facts)
        if found is not None:
            commit, frontier = found
            need(facts.table_id, commit.timestamp_ms)
            for source in frontier.sources.values():
                need(source.table_id, source.timestamp_ms)
    return needed


def _time(timestamp_ms: int) -> str:
    return datetime.fromtimestamp(timestamp_ms / 1000, timezone.utc).isoformat(" ", "seconds")
