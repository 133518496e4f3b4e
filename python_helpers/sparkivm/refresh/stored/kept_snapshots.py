"""Tags on Iceberg sources that keep the snapshots which a view has read, where the project asks for them.

Without a tag, the owner of a source may expire such a snapshot before the next refresh, and the view is
rebuilt. A tag belongs to one state: its name contains a hash of the state's owner and id. So views, projects
and copies of a project do not take each other's tags away, and no other tag is touched.

source  Iceberg counts a tag's age from the time of its snapshot, and removes tags that are too old when it
        expires snapshots
tested  tests/unit/test_kept_snapshots.py, tests/dbt/test_iceberg_project.py
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sparkivm.changes.frontier import Frontier, SourceFrontier
from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.digest import digest
from sparkivm.engine import SNAPSHOT, EngineError, RelationFacts, snapshot_of
from sparkivm.marker import STATES, Owner, read_marker
from sparkivm.names import TableName, name_of, quoted
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.stored_state import newest_frontier

_LONGEST_STEM = 60
_MINUTE_MS = 60_000
_EXTENSION = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


def tag_of(state: RelationFacts, owner: Owner) -> str:
    """The name of the tags that are kept for a state."""
    stem = re.sub(r"\W", "_", owner.view, flags=re.ASCII)[:_LONGEST_STEM]
    identity = repr((owner.project, owner.model, owner.view, state.table_id))
    return f"sparkivm_{stem}_{digest(identity)}"


def keep_snapshots(
    engine: RecordingEngine,
    declared: DeclaredSources,
    tag: str,
    frontier: Frontier,
    facts: Callable[[TableName], RelationFacts | None],
    now_ms: int,
    *,
    names_others: bool,
) -> None:
    """Tag the snapshots in a frontier. What cannot be tagged is a warning.

    facts         of a source as the run sees it
    names_others  whether to warn of sources that have no snapshots to keep
    """
    for known in frontier.sources.values():
        name = name_of(known.name)
        kept_ms = declared.of(name).kept_minutes * _MINUTE_MS
        source = facts(name) if kept_ms else None
        if source is None:
            continue
        if source.kind != "iceberg" or source.mirror_of is not None:
            if names_others:
                kind = "a mirror of it" if source.mirror_of else source.is_a
                engine.warn(f"keep_snapshots has no effect on {known.name}: the view reads {kind}")
            continue
        # The source may change, and expire its snapshots, at any time before the tag is renewed.
        snapshot, enough_ms = snapshot_of(known.commit_id), now_ms + kept_ms // 2
        there = source.tags.get(tag)
        if not snapshot or (there is not None and there.keeps(snapshot, enough_ms)):
            continue
        age_ms = max(0, now_ms - known.timestamp_ms)
        arguments = {"table": source.name.sql, "tag": quoted(tag), "snapshot": snapshot}
        try:
            engine.run("tag_snapshot", **arguments, minutes=-(-(age_ms + kept_ms) // _MINUTE_MS))
        except EngineError as error:
            engine.warn(f"{source.name} does not keep the snapshot that the view has read: {_why(error)}")


def release_snapshots(engine: RecordingEngine, state: RelationFacts, frontier: Frontier | None) -> None:
    """Remove the tags that are kept for a state that goes. What stays is a warning.

    frontier  of the state; None before it is dropped, to read it from there
    """
    marker = read_marker(state.properties)
    if marker is None or marker.role not in STATES:
        return
    tag = tag_of(state, marker.owner)
    try:
        if frontier is None and (found := newest_frontier(engine, state)) is not None:
            frontier = found[1]
        sources = frontier.sources.values() if frontier is not None else ()
        for source in engine.describe_all([name_of(known.name) for known in sources if _is_snapshot(known)]):
            if source is not None and tag in source.tags:
                engine.run("drop_tag", table=source.name.sql, tag=quoted(tag))
    except EngineError as error:
        engine.warn(f"the tag {tag} of some sources stays until it expires: {_why(error)}")


def _is_snapshot(known: SourceFrontier) -> bool:
    return known.commit_id.startswith(f"{SNAPSHOT}:")


def _why(error: EngineError) -> str:
    if error.condition.startswith("PARSE_"):
        return f"Spark has no statement for tags; add {_EXTENSION} to spark.sql.extensions"
    return f"{error}; allow this user to alter the table, or remove keep_snapshots"
