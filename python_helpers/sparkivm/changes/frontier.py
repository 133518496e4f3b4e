"""What a state reflects: identity and version of each source, the query, the session settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sparkivm.changes.state_columns import StateColumns
from sparkivm.changes.typed_values import WrongType, typed
from sparkivm.digest import digest
from sparkivm.engine import RelationFacts, is_another

# Increase it when older states could be misread.
STATE_FORMAT = 16
_MARK = "sparkivm"
_SEAL = "seal"  # hash of the rest
# Characters that have a meaning in SQL statements or session settings.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "$;'`"}


@dataclass(frozen=True)
class SourceFrontier:
    """One source as the state reflects it."""

    name: str
    table_id: str
    version: int
    commit_id: str  # of that version's commit: distinguishes logs with the same version numbers
    timestamp_ms: int  # of the same commit, for engines that do not know such ids
    fields: Mapping[str, str]  # columns that the view reads, with their types

    @property
    def at(self) -> tuple[str, int, str]:
        """Like that of `RelationFacts`."""
        return self.table_id, self.version, self.commit_id

    def is_version_of(self, now: RelationFacts) -> bool:
        """Whether a table is at this version; drivers may name its commit differently."""
        is_same_number = (now.table_id, now.version) == (self.table_id, self.version)
        return is_same_number and not is_another(now.commit_id, self.commit_id)


@dataclass(frozen=True)
class Timing:
    """The way and the estimated cost of a refresh; the time of its commit is the end.

    way           "" if we cannot learn from it
    estimated_ms  not corrected
    started_ms    since 1970; 0 if unknown
    factors       by way: actual duration of earlier refreshes divided by the estimate, in thousandths
    rebuild_ms    duration of the last rebuild before this refresh; 0 if unknown
    """

    way: Literal["", "changes", "full"] = ""
    estimated_ms: int = 0
    started_ms: int = 0
    factors: Mapping[str, int] = field(default_factory=dict)
    rebuild_ms: int = 0


@dataclass(frozen=True)
class Outcome:
    """What the refresh did that committed the frontier, for people.

    mode    edited: it made the state of an edited query from the stored rows; no_op: it wrote the frontier
            again, and changed no row; clone: it copied another environment's state
    form    the apply form, as in a refresh's result
    reason  code of the reason for a rebuild, with its details
    """

    mode: Literal["", "create", "full", "incremental", "edited", "no_op", "clone"] = ""
    form: str = ""
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Origin:
    """The state that a state was cloned from, at the versions at which it had the same rows.

    versions  ids of the commits, by version
    """

    table_id: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Frontier:
    """Kept in the user metadata of the commit that it describes, so data and frontier change together."""

    project: str  # whose state this is, as in its marker
    model: str
    view: str
    kind: Literal["group", "bag", "full"]  # full: not incremental
    text: str  # hash of the model's SQL
    plan: str  # hash of what the SQL means
    settings: Mapping[str, str]
    sources: Mapping[str, SourceFrontier]
    views: Mapping[str, str] = field(
        default_factory=dict
    )  # views between the model and its sources: hash of their text
    schemas: Mapping[str, str] = field(default_factory=dict)  # hash of every source's columns
    fields: tuple[tuple[str, str], ...] = ()  # public columns and their types
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # Spark's, by a hash of the question
    columns: StateColumns = ()  # of the state
    content: str = ""  # hash of what these columns mean
    public: tuple[str, ...] = ()  # hashes of the texts that the public view may have
    base: int = -1  # version of the state that the commit changed; -1 if it replaced the whole state
    several: bool = False  # whether a group may have several entries
    appended: int = 0  # refreshes that appended entries since the last fold
    deterministic: bool = True
    reason: str = ""  # if the view is not incremental
    nonce: str = ""
    moments: Mapping[str, str] = field(default_factory=dict)  # dates and times, as literals, by key
    auxiliaries: tuple[str, ...] = ()  # queries of its auxiliary views
    adds_up_auxiliary: bool = False  # the only auxiliary view shows entries, which the view adds up
    drops_auxiliaries: bool = False  # auxiliary views of the former state may still exist
    former_state: str = ""  # key of the state in another catalog that this one replaced; it may still exist
    origin: Origin = Origin()  # if the commit cloned the state
    clones: Mapping[str, str] = field(default_factory=dict)  # keys of states: clone → its origin, a source
    # What names without a schema meant, by name; under "" the current catalog.
    # Functions are `name()`, and were Spark's own.
    resolved: Mapping[str, str] = field(default_factory=dict)
    timing: Timing = Timing()
    outcome: Outcome = Outcome()

    @property
    def shown_by(self) -> tuple[str, ...]:
        """Hashes of the texts of a public view that shows this state: some do not add up entries."""
        return self.public[1:] if self.several else self.public

    def to_json(self) -> str:
        values = asdict(self)
        text = _text({_MARK: STATE_FORMAT, _SEAL: _seal(values), **values})
        return text.translate(_ESCAPED)


class OtherFormat(Exception):
    """A frontier that another version of the package wrote, or that somebody changed."""


def read_frontier(metadata: str | None) -> Frontier | None:
    """The frontier in a commit's user metadata; None without a frontier.

    We do not trust the text: unless it is exactly what a refresh of this format writes, it is refused.

    Raises: OtherFormat.
    """
    values = _marked(metadata)
    if values is None:
        return None
    format_, seal = values.pop(_MARK), values.pop(_SEAL, None)
    try:
        if type(format_) is int and format_ == STATE_FORMAT and seal == _seal(values):
            return typed(Frontier, values)
    except (WrongType, RecursionError):
        pass
    raise OtherFormat


def has_frontier(metadata: str | None) -> bool:
    """Whether a commit's user metadata has a frontier, of this format or another."""
    return _marked(metadata) is not None


def _marked(metadata: str | None) -> dict[str, Any] | None:
    """The JSON of a frontier; None for other metadata."""
    if not metadata:
        return None
    try:
        values = json.loads(metadata)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) and _MARK in values else None


def _text(values: Mapping[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=True, sort_keys=True)


def _seal(values: Mapping[str, Any]) -> str:
    return digest(_text(values))
