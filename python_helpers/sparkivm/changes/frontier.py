"""What a state reflects: identity and version of each source, the query, the session settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

# Raise it when a state written before could be misread, also if the compiler asks for types in another order.
STATE_FORMAT = 4
_MARK = "sparkivm"
# Characters that a SQL statement or a session setting could take for its own.
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "$;'`"}


@dataclass(frozen=True)
class SourceFrontier:
    """One source as the state knows it."""

    name: str
    table_id: str
    version: int
    timestamp_ms: int  # of that version's commit: tells a log from another one with the same numbers
    fields: Mapping[str, str]  # columns that the view reads, with their types

    @property
    def at(self) -> tuple[str, int]:
        """As that of `RelationFacts`."""
        return self.table_id, self.version


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
    # What names without a schema stood for, by the names; under "" the catalog of those without one.
    # Functions are `name()`, and stood for Spark's own.
    resolved: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        text = json.dumps(
            {_MARK: STATE_FORMAT, **asdict(self)}, separators=(",", ":"), ensure_ascii=True, sort_keys=True
        )
        return text.translate(_ESCAPED)


class OtherFormat(Exception):
    """A frontier that another version of the package wrote."""


def read_frontier(metadata: str | None) -> Frontier | None:
    """The frontier in a commit's user metadata, None if it holds none.

    Raises: OtherFormat.
    """
    values = _marked(metadata)
    if values is None:
        return None
    if values.pop(_MARK) != STATE_FORMAT:
        raise OtherFormat
    try:
        values["sources"] = {key: SourceFrontier(**source) for key, source in values["sources"].items()}
        values["fields"] = tuple((name, type_) for name, type_ in values["fields"])
        values["public"] = tuple(values["public"])
        values["auxiliaries"] = tuple(values.get("auxiliaries", ()))
        values["types"] = tuple(tuple(types) for types in values["types"])
        return Frontier(**values)
    except (TypeError, KeyError, ValueError):
        raise OtherFormat from None


def _marked(metadata: str | None) -> dict[str, Any] | None:
    """What a frontier was written as, None of other metadata."""
    if not metadata or _MARK not in metadata:
        return None
    try:
        values = json.loads(metadata)
    except ValueError:
        return None
    return values if isinstance(values, dict) and _MARK in values else None
