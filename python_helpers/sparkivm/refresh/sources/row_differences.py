"""Brings a table to the rows of another relation, by one commit of the rows that differ.

tested  tests/refresh/test_mirrors.py, tests/refresh/test_seed_table.py
"""

from __future__ import annotations

import json
import uuid
from contextlib import suppress
from dataclasses import dataclass

from sparkivm.changes.mirror_texts import MirrorTexts
from sparkivm.engine import EngineError, RelationFacts
from sparkivm.formats import STATE_FORMATS
from sparkivm.formats.state_format import StateFormat, Tag, Write
from sparkivm.names import RESERVED_PREFIX, TableName, quoted
from sparkivm.refresh.session.planning_settings import planned_for_changes
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.commit import Conflict, commit_tagged


@dataclass(frozen=True)
class Applied:
    """What was done.

    version     of the table that has the relation's rows
    came, gone  numbers of rows; with a key, of keys
    """

    version: int
    came: int = 0
    gone: int = 0


def apply_differences(engine: RecordingEngine, table: RelationFacts, texts: MirrorTexts) -> Applied | None:
    """Compare a table at its version with a relation, and apply what differs. None if the key is not unique.

    Raises: Conflict if somebody else wrote to the table since; EngineError.
    """
    staged = f"{RESERVED_PREFIX}differences_{uuid.uuid4().hex[:12]}"
    format = STATE_FORMATS[table.kind]
    with planned_for_changes(engine, 2 * (table.size_bytes or 0)):
        try:
            engine.run("stage_changes", name=staged, select=texts.differences(table.pinned), later=False)
            counts = engine.query(texts.counts(staged))[0]
            if counts["several"]:
                return None
            came, gone = int(counts["came"]), int(counts["gone"])
            if not came and not gone:
                return Applied(table.version)
            version = commit_alone(engine, format, table.name, table, _write(table, texts, staged, gone))
            return Applied(version, came, gone)
        finally:
            with suppress(EngineError):
                engine.execute_quietly(engine.render("drop_own_view", view=staged))


def _write(table: RelationFacts, texts: MirrorTexts, staged: str, gone: int) -> Write:
    state = table.name.sql
    if gone:
        if not all(field.can_be_merged for field in table.fields):
            raise EngineError("Spark cannot merge rows into a table with CHAR columns")
        arguments = {"source": texts.merged(staged), "on": texts.on, "clauses": texts.clauses}
        return Write("merge_state", {"state": state, **arguments})
    columns = [quoted(name) for name in texts.columns]
    return Write("append_state", {"state": state, "columns": columns, "select": texts.inserted(staged)})


def commit_alone(
    engine: RecordingEngine, format: StateFormat, name: TableName, before: RelationFacts | None, write: Write
) -> int:
    """Run a statement that changes a table. Returns: the version.

    before  the table when we decided to write; None if there was none
    Raises: Conflict if somebody else wrote since.
    """
    nonce = uuid.uuid4().hex
    version = before.version if before else -1
    metadata = json.dumps({"sparkivm_mirror": 1, "base": version, "nonce": nonce})
    tag = Tag(metadata, nonce, f"sparkivm:mirror:{name.key}", version + 1, before)
    commit = commit_tagged(engine, format, name, version, tag, write)
    between = engine.commits(name, version)
    if any(format.changes_rows(c) for c in between if c.version < commit.version):
        raise Conflict(f"{name} was written to by someone else after version {version}")
    return commit.version
