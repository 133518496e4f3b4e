"""What is stored for a view now: its state table, and the frontier in that table's newest data commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from sparkivm.changes.frontier import Frontier, OtherFormat, read_frontier
from sparkivm.changes.state_columns import columns_of, difference, with_ids
from sparkivm.engine import Commit, Engine, EngineError, RelationFacts
from sparkivm.formats import STATE_FORMATS
from sparkivm.formats.state_format import StateFormat
from sparkivm.marker import Marker, Owner, read_marker
from sparkivm.names import TableName
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.request import RefreshRequest

# Numbers of commits to read, increasing. If the last finds no data commit, the frontier is lost.
_LOOK_BACK = (1, 10, 100, 1000)


@dataclass(frozen=True)
class StoredState:
    """`problem` says why the state cannot be refreshed incrementally; then `frontier` is None."""

    facts: RelationFacts | None
    frontier: Frontier | None
    problem: Fallback | None
    frontier_commit: Commit | None = None
    built_empty: bool = False  # by --empty, without rows

    @property
    def version(self) -> int:
        return self.facts.version if self.facts else -1

    @property
    def is_missing(self) -> bool:
        """Whether the view has no state, also not in another catalog."""
        return self.facts is None and self.problem == Fallback(Reason.STATE_MISSING)


def read_state(engine: Engine, request: RefreshRequest) -> StoredState:
    """The state of a view as of its newest version; the frontier has to name its owner."""
    state, view, owner = request.state, request.view, request.owner
    facts = engine.describe(state)
    if facts is None:
        return StoredState(None, None, Fallback(Reason.STATE_MISSING))
    format = STATE_FORMATS.get(facts.kind)
    if format is None:
        what = f"{state} is not a {' or '.join(map(str.title, STATE_FORMATS))} table"
        return StoredState(facts, None, Fallback(Reason.STATE_MODIFIED, what))
    oldest = facts.version + 1
    for commit in _back(engine, format, facts):
        oldest = commit.version
        found = None if format.is_compaction(commit) else _as_of(engine, facts, format, commit, view, owner)
        if found is not None:
            return found
    missing = facts.version - _LOOK_BACK[-1] < oldest - 1 and oldest > 0
    detail = f"the log of {state} has no entry for version {oldest - 1}" if missing else ""
    return StoredState(facts, None, Fallback(Reason.FRONTIER_MISSING, detail))


def newest_frontier(engine: Engine, state: RelationFacts) -> tuple[Commit, Frontier] | None:
    """The newest commit of a state with a readable frontier, and the frontier; None if no commit has one."""
    return next(frontiers(engine, state), None)


def frontiers(engine: Engine, state: RelationFacts) -> Iterator[tuple[Commit, Frontier]]:
    """The commits of a state with readable frontiers, newest first, and these."""
    for commit in _back(engine, STATE_FORMATS[state.kind], state):
        with suppress(OtherFormat):
            if (frontier := read_frontier(commit.user_metadata)) is not None:
                yield commit, frontier


def _back(engine: Engine, format: StateFormat, table: RelationFacts) -> Iterator[Commit]:
    """The commits that led to a table's version, newest first, as far as the log or we go back."""
    return _read_back(engine, table, partial(format.line, table))


def all_commits(engine: Engine, table: RelationFacts) -> Iterator[Commit]:
    """The commits of a table, newest first, also from before it was replaced, as far as we go back."""
    described_before = replace(table, described_commit=None)  # later commits have to be read too
    return _read_back(engine, described_before, reversed)


def _read_back(
    engine: Engine, table: RelationFacts, order: Callable[[Sequence[Commit]], Iterable[Commit]]
) -> Iterator[Commit]:
    """Reads as few commits as the caller takes. `order` puts the newest first."""
    known = 0
    for step in _LOOK_BACK:
        if step == 1 and table.commit is not None:
            commits: Sequence[Commit] = [table.commit]
        else:
            commits = engine.commits(table.name, max(-1, table.version - step))
        line = list(order(commits))
        yield from line[known:]
        known = len(line)
        if step > table.version:
            return


def _as_of(
    engine: Engine, facts: RelationFacts, format: StateFormat, commit: Commit, view: TableName, owner: Owner
) -> StoredState | None:
    """The state as a commit describes it; None if only an earlier commit can describe it."""

    def modified(detail: str) -> StoredState:
        return StoredState(facts, None, Fallback(Reason.STATE_MODIFIED, detail))

    try:
        frontier = read_frontier(commit.user_metadata)
    except OtherFormat:
        return StoredState(facts, None, Fallback(Reason.STATE_FORMAT_CHANGED))
    if frontier is None:
        foreign = commit if _changes_state(format, commit) else None
    elif not frontier.text:
        problem = Fallback(Reason.STATE_MISSING, "the view was built without rows by --empty")
        return StoredState(facts, None, problem, built_empty=True)
    else:
        foreign = foreign_commit(engine, format, facts.name, frontier, commit)
    if foreign is not None:
        if frontier is not None and not _changes_state(format, commit):
            return None  # it describes a state that another driver's refresh replaced meanwhile
        did = foreign.operation or "commit without operation"
        return modified(f"version {foreign.version} of {facts.name} is a {did}, not a refresh")
    if frontier is None:
        return None
    if (frontier.project, frontier.model, frontier.view) != (owner.project, owner.model, view.key):
        return modified(
            f"version {commit.version} of {facts.name} was written for {frontier.model} as {frontier.view}"
        )
    known = with_ids(frontier.columns, format.column_ids(commit))
    if altered := difference(known, columns_of(facts.fields)):
        return modified(f"{facts.name} was altered: {altered}")
    return StoredState(facts, frontier, None, commit)


def check_files(engine: Engine, state: RelationFacts) -> None:
    """Check for lost files, which a statement notices only if it reads them.

    Raises: EngineError.
    """
    try:
        engine.check_files(state)
    except EngineError as error:
        raise EngineError(f"not all files of {state.name} can be read: {error}", error.condition) from error


def is_state_of(engine: Engine, facts: RelationFacts, marker: Marker) -> bool:
    """Whether a table is the state with this marker.

    If somebody replaced the table in its log, the marker is gone, but an earlier commit has a frontier with
    the same owner.
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
    """What somebody else did between the version that a refresh saw and its own commit, if anything.

    If the state was rolled back to an older commit, this is that commit, as a ROLLBACK.
    """
    base, is_a_line = frontier.base, format.versions_are_a_line
    if base < 0 or (is_a_line and commit.version == base + 1):
        return None
    for before in format.before(commit, engine.commits(state, base if is_a_line else -1)):
        if before.version < base:
            return replace(before, operation="ROLLBACK")
        if before.version == base:
            return None
        if _changes_state(format, before):
            return before
    return None


def _changes_state(format: StateFormat, commit: Commit) -> bool:
    """Whether a commit that is not a refresh's may have changed the state."""
    return format.changes_rows(commit) or format.changes_columns(commit)
