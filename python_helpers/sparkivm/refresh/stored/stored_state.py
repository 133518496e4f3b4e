"""What is stored for a view now: its state table, and the frontier in that table's newest data commit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from sparkivm.changes.frontier import Frontier, OtherFormat, read_frontier
from sparkivm.changes.state_columns import columns_of, difference
from sparkivm.engine import Commit, Engine, EngineError, RelationFacts
from sparkivm.formats import NEW_STATES, STATE_FORMATS
from sparkivm.formats.state_format import StateFormat
from sparkivm.marker import Marker, Owner, read_marker
from sparkivm.names import TableName, state_table
from sparkivm.reasons import Fallback, Reason

_LOOK_BACK = 100  # commits; more than that without data between two refreshes is taken for a lost frontier


@dataclass(frozen=True)
class StoredState:
    """`problem` says why the state cannot be refreshed incrementally; then `frontier` is None."""

    facts: RelationFacts | None
    frontier: Frontier | None
    problem: Fallback | None
    frontier_commit: Commit | None = None
    built_empty: bool = False  # by --empty: it has no rows, whatever the sources have

    @property
    def version(self) -> int:
        return self.facts.version if self.facts else -1

    @property
    def format(self) -> StateFormat:
        """That of the state, or of the one that is going to be made."""
        return STATE_FORMATS.get(self.facts.kind, NEW_STATES) if self.facts else NEW_STATES


def read_state(engine: Engine, view: TableName, owner: Owner) -> StoredState:
    """The state of a view as of its newest version; the frontier has to name its owner."""
    state = state_table(view)
    facts = engine.describe(state)
    if facts is None:
        return StoredState(None, None, Fallback(Reason.STATE_MISSING))
    format = STATE_FORMATS.get(facts.kind)
    if format is None:
        what = f"{state} is not a {' or '.join(map(str.title, STATE_FORMATS))} table"
        return StoredState(facts, None, Fallback(Reason.STATE_MODIFIED, what))
    step = 1
    while True:
        commits = engine.commits(state, max(-1, facts.version - step))
        expected = facts.version
        for commit in reversed([c for c in commits if c.version <= facts.version]):
            if commit.version != expected:
                lacks = f"the log of {state} does not say what version {expected} is"
                return StoredState(facts, None, Fallback(Reason.FRONTIER_MISSING, lacks))
            expected -= 1
            if format.is_compaction(commit):
                continue
            try:
                frontier = read_frontier(commit.user_metadata)
            except OtherFormat:
                return StoredState(facts, None, Fallback(Reason.STATE_FORMAT_CHANGED))
            if frontier is not None and not frontier.text:
                problem = Fallback(Reason.STATE_MISSING, "the view was built without rows, by --empty")
                return StoredState(facts, None, problem, built_empty=True)
            foreign = commit if frontier is None and _changes_state(format, commit) else None
            if frontier is not None:
                foreign = foreign_commit(engine, format, state, frontier, commit)
            if foreign is not None:
                detail = f"version {foreign.version} of {state} is a {foreign.operation} that no refresh made"
                return StoredState(facts, None, Fallback(Reason.STATE_MODIFIED, detail))
            if frontier is None:
                continue
            named = frontier.project, frontier.model, frontier.view
            if named != (owner.project, owner.model, view.key):
                detail = (
                    f"version {commit.version} of {state} was written for {frontier.model} as {frontier.view}"
                )
                return StoredState(facts, None, Fallback(Reason.STATE_MODIFIED, detail))
            if altered := difference(frontier.columns, columns_of(facts.fields)):
                detail = f"{state} was altered: {altered}"
                return StoredState(facts, None, Fallback(Reason.STATE_MODIFIED, detail))
            return StoredState(facts, frontier, None, commit)
        if step > _LOOK_BACK or step > facts.version:
            return StoredState(facts, None, Fallback(Reason.FRONTIER_MISSING))
        step *= 10


def check_files(engine: Engine, state: RelationFacts) -> None:
    """A lost file would be noticed by no statement that does not read it.

    Raises: EngineError.
    """
    try:
        engine.check_files(state)
    except EngineError as error:
        raise EngineError(f"not all files of {state.name} can be read: {error}", error.condition) from error


def is_state_of(engine: Engine, facts: RelationFacts, marker: Marker) -> bool:
    """Whether a table is the state with this marker.

    If somebody replaced it in its own log, the marker is gone, but an earlier commit has a frontier of the
    same owner.
    """
    found = read_marker(facts.properties)
    if found is not None or facts.kind not in STATE_FORMATS:
        return found == marker
    owner = marker.owner
    for commit in engine.commits(facts.name, -1):
        with suppress(OtherFormat):
            frontier = read_frontier(commit.user_metadata)
            if frontier is not None and (frontier.project, frontier.model) == (owner.project, owner.model):
                return True
    return False


def foreign_commit(
    engine: Engine, format: StateFormat, state: TableName, frontier: Frontier, commit: Commit
) -> Commit | None:
    """What somebody wrote between the version that a refresh saw and its commit, if both got through."""
    if frontier.base < 0 or commit.version == frontier.base + 1:
        return None
    between = (c for c in engine.commits(state, frontier.base) if c.version < commit.version)
    return next((c for c in between if _changes_state(format, c)), None)


def _changes_state(format: StateFormat, commit: Commit) -> bool:
    """Whether a commit that is not a refresh's may have changed what a state has."""
    return format.changes_rows(commit) or format.changes_columns(commit)
