"""What a refresh did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from sparkivm.names import TableName
from sparkivm.reasons import Fallback

Mode = Literal["create", "no_op", "incremental", "full", "clone"]


@dataclass(frozen=True)
class SourceVersions:
    """The interval (from, to] of a source that was consumed; `from_version` is None if all of it was read."""

    name: str
    from_version: int | None
    to_version: int


@dataclass(frozen=True)
class RefreshResult:
    """The outcome of one refresh, for the console, run_results.json and the log.

    seen_at  of a no_op that leaves the frontier behind its sources: `RelationFacts.at` by key of a source
    """

    mode: Mode
    view: TableName
    state: TableName
    fallback: Fallback | None = None  # why it was not incremental
    explanation: str = ""  # the numbers behind the decision
    apply_form: Literal["", "create", "rebuild", "append", "rewrite", "replace", "merge", "recompute"] = ""
    rows_inserted: int | None = None
    rows_updated: int | None = None
    rows_deleted: int | None = None
    sources: tuple[SourceVersions, ...] = ()
    strategies: Mapping[str, str] = field(default_factory=dict)  # operator -> strategy
    statements: tuple[str, ...] = ()  # the SQL that was executed, in order
    compile_s: float = 0.0  # Python's share: parse, compile, decide
    put_aside: TableName | None = None  # the new name of the relation that had the view's name
    seen_at: Mapping[str, tuple[str, int, str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
