"""One commit to the state: data, frontier and transaction number together, or nothing."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Commit, Engine, EngineError, Row
from sparkivm.names import TableName
from sparkivm.refresh.planning_settings import OLD_VERSIONS
from sparkivm.refresh.stored_state import foreign_commit

_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_APPLICATION = "spark.databricks.delta.write.txnAppId"
_NUMBER = "spark.databricks.delta.write.txnVersion"
_CONFLICTS = ("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")


class Conflict(Exception):
    """Another refresh, or maintenance of the state, was faster. Nothing of this one was committed."""


@dataclass(frozen=True)
class Committed:
    """Our commit, and what the statement returned."""

    commit: Commit
    rows: Sequence[Row]


def commit_statement(
    engine: Engine, state: TableName, version: int, frontier: Frontier, sql: str
) -> Committed:
    """Run the one statement of a refresh that changes the state.

    version  of the state when its frontier was read, -1 if it did not exist. The transaction number is the
             next one, so of two refreshes from one version Delta lets one through, skips or fails the other.
    Raises: Conflict if this was the other one; EngineError.
    """
    tagged = replace(frontier, nonce=uuid.uuid4().hex)
    application = f"sparkivm:{frontier.view}"
    committed = commit_tagged(engine, state, version, application, tagged.to_json(), tagged.nonce, sql)
    if foreign_commit(engine, state, tagged, committed.commit) is not None:
        raise Conflict(f"{state} was written to by someone else after version {version}")
    return committed


def commit_tagged(
    engine: Engine, table: TableName, version: int, application: str, metadata: str, nonce: str, sql: str
) -> Committed:
    """Run a statement so that its commit is known by the nonce in its metadata.

    version  of the table when it was decided to run the statement
    Raises: Conflict if Delta let another one through; EngineError.
    """
    settings = {
        _METADATA: metadata,
        _APPLICATION: application,
        _NUMBER: str(version + 1),
        **OLD_VERSIONS,
    }
    engine.set(settings)
    try:
        rows = engine.execute(sql)
    except EngineError as error:
        if error.condition.startswith(_CONFLICTS) or any(f"[{word}" in str(error) for word in _CONFLICTS):
            raise Conflict(str(error)) from error
        raise
    finally:
        # Left in place, they would tag the next ALTER too: a frontier without its data.
        engine.unset(tuple(settings))
    for commit in engine.commits(table, version):
        if nonce in (commit.user_metadata or ""):
            return Committed(commit, rows)
    raise Conflict(f"{table} was written to by someone else from version {version}")
