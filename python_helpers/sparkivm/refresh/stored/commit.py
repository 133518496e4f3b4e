"""One commit to the state: data, frontier and transaction number together, or nothing."""

from __future__ import annotations

import uuid
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Commit, EngineError, session_with
from sparkivm.formats.state_format import StateFormat, Tag, Write
from sparkivm.names import TableName
from sparkivm.refresh.session.planning_settings import OF_EACH_STATEMENT
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.stored_state import StoredState, foreign_commit


class Conflict(Exception):
    """Another refresh, or maintenance of the state, committed first. This one committed nothing."""


@contextmanager
def conflicts_of(format: StateFormat) -> Generator[None, None, None]:
    """Raises: Conflict if a statement on the state failed because another commit came first; EngineError."""
    try:
        yield
    except EngineError as error:
        if format.is_conflict(error):
            raise Conflict(str(error)) from error
        raise


def commit_statement(
    engine: RecordingEngine,
    format: StateFormat,
    state: TableName,
    stored: StoredState,
    frontier: Frontier,
    write: Write,
) -> Commit:
    """Run the one statement of a refresh that changes the state. Returns: its commit.

    stored  the state as it was when its frontier was read. The transaction number is the version of the
            frontier's commit plus 1. So of two refreshes from one frontier the format accepts one, and skips
            or fails the other, whatever else was committed in between.
    Raises: Conflict if this one was not accepted; EngineError.
    """
    tagged = replace(frontier, nonce=uuid.uuid4().hex)
    known = stored.frontier_commit
    number = (known.version if known else stored.version) + 1
    tag = Tag(tagged.to_json(), tagged.nonce, f"sparkivm:{frontier.view}", number, stored.facts)
    commit = commit_tagged(engine, format, state, stored.version, tag, write)
    if foreign_commit(engine, format, state, tagged, commit) is not None:
        raise Conflict(f"{state} was written to by someone else after version {stored.version}")
    return commit


def commit_tagged(
    engine: RecordingEngine, format: StateFormat, table: TableName, version: int, tag: Tag, write: Write
) -> Commit:
    """Run a statement whose commit we recognize by the tag.

    version  of the table when it was decided to run the statement
    Raises: Conflict if the format accepted another one; EngineError.
    """
    write, settings = format.tagged(write, tag)
    with session_with(engine, {**OF_EACH_STATEMENT, **settings}), conflicts_of(format):
        engine.write(write)
    if format.commits_as_described:
        engine.describe(table)
    for commit in engine.commits(table, version):
        if tag.nonce in (commit.user_metadata or ""):
            return commit
    raise Conflict(f"{table} was written to by someone else from version {version}")
