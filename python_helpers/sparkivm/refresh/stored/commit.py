"""One commit to the state: data, frontier and transaction number together, or nothing."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Commit, Engine, EngineError, Row, session_with
from sparkivm.names import TableName
from sparkivm.refresh.session.planning_settings import OLD_VERSIONS
from sparkivm.refresh.stored.stored_state import StoredState, foreign_commit

_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_APPLICATION = "spark.databricks.delta.write.txnAppId"
_NUMBER = "spark.databricks.delta.write.txnVersion"
_AS_WE_WRITE = {
    "spark.sql.sources.partitionOverwriteMode": "static",  # INSERT OVERWRITE replaces all partitions
    "spark.sql.storeAssignmentPolicy": "ANSI",  # sums of decimals have more digits than their column
}
_CONFLICTS = ("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")


class Conflict(Exception):
    """Another refresh, or maintenance of the state, was faster. Nothing of this one was committed."""


@dataclass(frozen=True)
class Committed:
    """Our commit, and what the statement returned."""

    commit: Commit
    rows: Sequence[Row]


def commit_statement(
    engine: Engine, state: TableName, stored: StoredState, frontier: Frontier, sql: str
) -> Committed:
    """Run the one statement of a refresh that changes the state.

    stored  the state as it was when its frontier was read. The transaction number is the next one to the
            version of the frontier's commit, so of two refreshes from one frontier Delta lets one through,
            skips or fails the other, whatever else was committed in between.
    Raises: Conflict if this was the other one; EngineError.
    """
    tagged = replace(frontier, nonce=uuid.uuid4().hex)
    known = stored.frontier_commit
    transaction = (f"sparkivm:{frontier.view}", (known.version if known else stored.version) + 1)
    version = stored.version
    committed = commit_tagged(engine, state, version, transaction, tagged.to_json(), tagged.nonce, sql)
    if foreign_commit(engine, state, tagged, committed.commit) is not None:
        raise Conflict(f"{state} was written to by someone else after version {version}")
    return committed


def commit_tagged(
    engine: Engine,
    table: TableName,
    version: int,
    transaction: tuple[str, int],
    metadata: str,
    nonce: str,
    sql: str,
) -> Committed:
    """Run a statement so that its commit is known by the nonce in its metadata.

    version      of the table when it was decided to run the statement
    transaction  its application and number: Delta lets none through whose number is not above the last one
    Raises: Conflict if Delta let another one through; EngineError.
    """
    # Left in place, they would tag the next ALTER too: a frontier without its data.
    tags = {_METADATA: metadata, _APPLICATION: transaction[0], _NUMBER: str(transaction[1])}
    with session_with(engine, {**_AS_WE_WRITE, **OLD_VERSIONS, **tags}):
        try:
            rows = engine.execute(sql)
        except EngineError as error:
            if error.condition.startswith(_CONFLICTS) or any(f"[{word}" in str(error) for word in _CONFLICTS):
                raise Conflict(str(error)) from error
            raise
    for commit in engine.commits(table, version):
        if nonce in (commit.user_metadata or ""):
            return Committed(commit, rows)
    raise Conflict(f"{table} was written to by someone else from version {version}")
