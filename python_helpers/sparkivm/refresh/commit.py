"""One commit to the state: data, frontier and transaction number together, or nothing."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sparkivm.changes.frontier import Frontier, read_frontier
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
    settings = {
        _METADATA: tagged.to_json(),
        _APPLICATION: f"sparkivm:{frontier.view}",
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
    for commit in engine.commits(state, version):
        found = read_frontier(commit.user_metadata)
        if found is not None and found.nonce == tagged.nonce:
            if foreign_commit(engine, state, found, commit) is not None:
                raise Conflict(f"{state} was written to by someone else after version {version}")
            return Committed(commit, rows)
    raise Conflict(f"{state} was refreshed by someone else from version {version}")
