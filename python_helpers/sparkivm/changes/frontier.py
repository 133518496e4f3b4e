"""What a state reflects: identity and version of each source, the query, the session settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sparkivm.changes.state_columns import StateColumns
from sparkivm.changes.typed_values import WrongType, typed

# Raise it when a state written before could be misread, also if the compiler asks for types in another order.
STATE_FORMAT = 9
_MARK = "sparkivm"
_SEAL = "seal"  # hash of the rest
# Characters that a SQL statement or a session setting could take for its own.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "$;'`"}


@dataclass(frozen=True)
class SourceFrontier:
    """One source as the state knows it."""

    name: str
    table_id: str
    version: int
    commit_id: str  # of that version's commit: tells a log from another one with the same numbers
    timestamp_ms: int  # of the same commit, for engines that know no id of this kind
    fields: Mapping[str, str]  # columns that the view reads, with their types

    @property
    def at(self) -> tuple[str, int, str]:
        """As that of `RelationFacts`."""
        return self.table_id, self.version, self.commit_id


@dataclass(frozen=True)
class Timing:
    """How a refresh was made, and what was expected of it; its end is the time of its commit.

    way           "" if nothing is to be learned from it
    estimated_ms  not corrected
    started_ms    since 1970
    factors       how many times as long as estimated earlier refreshes took, by their ways, in thousandths
    """

    way: Literal["", "changes", "full"] = ""
    estimated_ms: int = 0
    started_ms: int = 0
    factors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Frontier:
    """Kept in the user metadata of the commit that it describes, so data and frontier are one."""

    project: str  # whose state it is, as in its marker
    model: str
    view: str
    kind: Literal["group", "bag", "full"]  # full: not incrementally maintainable
    text: str  # hash of the model's SQL
    plan: str  # hash of what the SQL means
    settings: Mapping[str, str]
    sources: Mapping[str, SourceFrontier]
    views: Mapping[str, str] = field(
        default_factory=dict
    )  # views between the model and its sources: hash of their text
    schemas: Mapping[str, str] = field(default_factory=dict)  # hash of every source's columns
    fields: tuple[tuple[str, str], ...] = ()  # public columns and their types
    types: tuple[
        tuple[str, ...], ...
    ] = ()  # Spark's answers about types, in the order of the compiler's questions
    columns: StateColumns = ()  # of the state
    public: tuple[str, ...] = ()  # hashes of the texts that the public view may have
    base: int = -1  # version of the state that the commit changed; -1 if it replaced all of it
    several: bool = False  # a group may have several entries
    appended: int = 0  # refreshes that appended entries since the last fold
    deterministic: bool = True
    reason: str = ""  # of a view that is not incrementally maintainable
    detail: str = ""
    nonce: str = ""
    moments: Mapping[str, str] = field(default_factory=dict)  # dates and times, as literals, by their keys
    auxiliaries: tuple[str, ...] = ()  # queries of the views that it keeps of inner aggregates
    adds_up_auxiliary: bool = False  # the only one of these shows entries, which the view adds up
    drops_auxiliaries: bool = False  # views that only the former state read may still be there
    # What names without a schema stood for, by the names; under "" the catalog of those without one.
    # Functions are `name()`, and stood for Spark's own.
    resolved: Mapping[str, str] = field(default_factory=dict)
    timing: Timing = Timing()

    def to_json(self) -> str:
        values = asdict(self)
        text = _text({_MARK: STATE_FORMAT, _SEAL: _seal(values), **values})
        return text.translate(_ESCAPED)


class OtherFormat(Exception):
    """A frontier that another version of the package wrote, or that somebody changed."""


def read_frontier(metadata: str | None) -> Frontier | None:
    """The frontier in a commit's user metadata, None if it holds none.

    It is data from outside: what is not exactly as a refresh of this format wrote it is refused.

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


def _marked(metadata: str | None) -> dict[str, Any] | None:
    """What a frontier was written as, None of other metadata."""
    if not metadata or _MARK not in metadata:
        return None
    try:
        values = json.loads(metadata)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) and _MARK in values else None


def _text(values: Mapping[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=True, sort_keys=True)


def _seal(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(_text(values).encode()).hexdigest()[:16]
