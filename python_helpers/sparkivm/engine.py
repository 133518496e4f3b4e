"""The compiler's only interface to the outside: what it asks of a Spark connection."""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sparkivm.names import TableName
from sparkivm.spark.data_types import SparkType, spark_type

Row = Mapping[str, Any]
_POSITION = re.compile(r"\bline (\d+),? pos (\d+)")
_SUBSTITUTE = "spark.sql.variable.substitute"
_KINDS = {"delta": "a Delta table", "iceberg": "an Iceberg table", "view": "a view", "other": "a table"}


@dataclass(frozen=True)
class Field:
    """One column of a relation; `type` is the text of its `spark_type` (`decimal(10,2)`).

    char_length  n of CHAR(n) in a table or view, where `type` is string: Spark pads values compared with it
    mapped_to    the target of Delta's column mapping, which distinguishes this column from others of its
                 name; "" if not known
    """

    name: str
    type: str
    char_length: int | None = None
    mapped_to: str = field(default="", compare=False)

    @property
    def spark_type(self) -> SparkType:
        return spark_type(self.type)

    @property
    def declared_type(self) -> SparkType:
        """The type, or CHAR(n)."""
        return self.spark_type if self.char_length is None else SparkType("char", f"({self.char_length})")

    @property
    def stored_type(self) -> str:
        """The type's text, or `char(n)`."""
        return self.type if self.char_length is None else str(self.declared_type)

    @property
    def can_be_merged(self) -> bool:
        """Whether MERGE accepts a table with it: Delta does not find CHAR columns, which Spark pads."""
        return self.spark_type.joinable and self.char_length is None


@dataclass(frozen=True)
class SnapshotTag:
    """A tag of an Iceberg table: its snapshot, and until when it stays; in ms, None for always."""

    snapshot: int
    until_ms: int | None

    def keeps(self, snapshot: int, until_ms: int) -> bool:
        return self.snapshot == snapshot and (self.until_ms is None or self.until_ms >= until_ms)


@dataclass(frozen=True)
class RelationFacts:
    """A relation according to the catalog now, and to the metadata of a table with versions."""

    name: TableName
    kind: Literal["delta", "iceberg", "view", "other"]
    fields: tuple[Field, ...]
    properties: Mapping[str, str] = field(default_factory=dict)  # as set by TBLPROPERTIES
    # tables with versions: Delta or Iceberg
    table_id: str = ""
    version: int = -1
    commit_id: str = field(default="", compare=False)  # of that version's commit, as `Commit.id`
    described_commit: Commit | None = field(default=None, compare=False)  # that commit, if it was read too
    size_bytes: int | None = None  # bytes of the current files, if known without a Spark job
    files: int | None = field(default=None, compare=False)  # their number
    partition_columns: tuple[str, ...] = ()
    snapshots: int = field(default=0, compare=False)  # that an Iceberg table keeps
    tags: Mapping[str, SnapshotTag] = field(default_factory=dict, compare=False)  # of an Iceberg table
    # views
    view_text: str = ""
    comment: str = ""
    view_namespace: tuple[str, ...] = ()  # catalog and schema in which the view's text was analyzed
    view_settings: Mapping[str, str] = field(
        default_factory=dict
    )  # session settings at that time, except defaults
    view_collation: str = ""  # its DEFAULT COLLATION
    temporary: bool = False
    # anything else: parquet, csv, hive, jdbc ...
    provider: str = ""
    # the mirror of a source without history
    mirror_of: TableName | None = None
    read_as: str = ""  # FROM item of its newest version, if VERSION AS OF shows something else

    @property
    def at(self) -> tuple[str, int, str]:
        """The table, its version and commit: if these are equal, the rows are too."""
        return self.table_id, self.version, self.commit_id

    @property
    def commit(self) -> Commit | None:
        """The commit of its version, if it was read too; facts that were put to another version lack it."""
        found = self.described_commit
        return found if found and (found.version, found.id) == (self.version, self.commit_id) else None

    @property
    def is_a(self) -> str:
        """Its kind as a message says it."""
        return _KINDS[self.kind]

    @property
    def has_versions(self) -> bool:
        return self.kind in ("delta", "iceberg")

    @property
    def snapshot(self) -> int:
        """The value for VERSION AS OF to read its version."""
        return snapshot_of(self.commit_id) if self.kind == "iceberg" else self.version

    @property
    def pinned(self) -> str:
        """FROM item of the table at its version."""
        return self.read_as or f"{self.name.sql} version as of {self.snapshot}"

    @property
    def source(self) -> TableName:
        """The relation that models name; we read `name` for it."""
        return self.mirror_of or self.name

    @property
    def key(self) -> str:
        return self.source.key


SNAPSHOT = "snapshot"  # the kind of an Iceberg table's commit ids


def snapshot_of(commit_id: str) -> int:
    """The number of an Iceberg table's snapshot, from the id of its commit."""
    return int(commit_id.split(":")[1])


@dataclass(frozen=True)
class Commit:
    """One entry of a table's history: a Delta version or an Iceberg snapshot.

    id  distinguishes it from other commits with the same number: the kind of id, a colon, and the id; "" if
        unknown. Ids of different kinds cannot be compared.
    """

    version: int
    timestamp_ms: int
    operation: str  # "WRITE", "MERGE", "OPTIMIZE", "CREATE OR REPLACE TABLE AS SELECT" ...; "" if unknown
    metrics: Mapping[str, str]  # operationMetrics
    parameters: Mapping[str, str]  # operationParameters
    user_metadata: str | None = None
    id: str = ""

    def count(self, metric: str) -> int | None:
        """A metric that is a count; None if the commit does not report it."""
        value = self.metrics.get(metric, "")
        return int(value) if value.isdigit() else None


def are_of_one_kind(one: str, other: str) -> bool:
    """Whether the ids of two commits can be compared."""
    kind = one.partition(":")[0]
    return kind != "" and kind == other.partition(":")[0]


def is_another(one: str, other: str) -> bool:
    """Whether the ids of two commits show that the commits differ."""
    return are_of_one_kind(one, other) and one != other


class Engine(Protocol):
    """A Spark connection whose session settings nobody else uses.

    Spark's errors reach the caller as `EngineError`, whatever the driver raised, or as `EngineLost`.
    """

    def query(self, sql: str) -> Sequence[Row]:
        """Run a SELECT, SHOW, DESCRIBE or EXPLAIN and return all of its rows."""

    def execute(self, sql: str) -> None:
        """Run DDL or DML."""

    def render(self, macro: str, **arguments: Any) -> str:
        """The text of one of our statement macros, which a project may override."""

    def describe(self, name: TableName) -> RelationFacts | None:
        """What is known about a relation now; None if it does not exist."""

    def describe_all(self, names: Sequence[TableName]) -> Sequence[RelationFacts | None]:
        """The same for several relations, possibly in parallel."""
        return [self.describe(name) for name in names]

    def invalidate(self, name: TableName) -> None:
        """Make the session's catalog forget a table, because another session may have changed it."""

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        """The existing commits of a table above version `after`, oldest first."""

    def names_like(self, prefix: TableName) -> Sequence[TableName]:
        """The tables and views in the prefix's schema whose names begin with its identifier, in any case."""

    def properties_at(self, location: str) -> Mapping[str, str] | None:
        """Properties of the Delta table at a path; None without a table."""

    def check_files(self, table: RelationFacts) -> None:
        """Raises: EngineError if a file of a table with versions is missing or truncated."""
        # No statistics can answer this, so each file is opened. For max(_pos) Iceberg would read no file.
        column = "_metadata.file_size" if table.kind == "delta" else "abs(_pos)"
        self.query(f"select max({column}) from {table.name.sql} version as of {table.snapshot}")

    def expect_commit(self, table: TableName) -> None:
        """A hint that a commit to this Delta table follows soon, so that slow preparations can begin."""

    def substituted(self, sql: str) -> str:
        """A text with the values that Spark substitutes for `${name}` when a session runs it.

        Raises: EngineError for a value that cannot be part of a text.
        """

    def check_query(self, sql: str) -> None:
        """Raises: EngineError, with its position, if the text is not one query for Spark. Runs nothing."""

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        """Names and types of a query's columns, by analysis only. Commands: EngineError."""

    def analyzed_plan(self, sql: str) -> str:
        """Spark's analyzed logical plan of a query as text, with all columns. Commands: EngineError."""

    def optimized_plan(self, sql: str) -> str:
        """The same after Spark's optimizer, which computes constants. Commands: EngineError."""

    def namespace(self) -> tuple[str, ...]:
        """The current catalog and schema."""

    def variables(self, names: Collection[str]) -> frozenset[str]:
        """Those of the names, in lower case, that are session variables."""

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        """Those of the names that are user-defined functions, also if Spark has a function of this name.

        If the connection can see it, also all of Spark's functions that the session has replaced.
        """

    def set(self, settings: Mapping[str, str]) -> None:
        """Set session settings."""

    def unset(self, settings: Sequence[str]) -> None:
        """Restore session settings to their values when the connection was opened."""

    def settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """Session settings by name, without those that are not set."""


class EngineError(Exception):
    """Spark rejected or failed a statement; `condition` is its error class, "" if it is unknown.

    lines_before  number of lines in the statement before the text that the caller knows
    """

    def __init__(self, message: str, condition: str = "", lines_before: int = 0) -> None:
        super().__init__(message)
        self.condition, self.lines_before = condition, lines_before

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column in the text that the caller knows, both from 1; None if Spark gives none."""
        found = _POSITION.search(str(self))
        line = int(found[1]) - self.lines_before if found else 0
        return (line, int(found[2]) + 1) if found and line > 0 else None

    def below(self, lines: int) -> EngineError:
        """The same error for a text that begins some lines further down in its statement."""
        return EngineError(str(self), self.condition, self.lines_before + lines)


class EngineLost(Exception):
    """Spark is gone, or a timeout ended our work. Not an `EngineError`: no alternative may run."""


@contextmanager
def session_with(engine: Engine, settings: Mapping[str, str]) -> Generator[None, None, None]:
    """Run with some session settings, then restore the previous ones, which a model's hooks may have set.

    Leaves settings alone that have their value already, also by default: over SQL each change is a statement.
    """
    before = engine.settings(tuple(settings))
    changed = {name: value for name, value in settings.items() if before.get(name) != value}
    engine.set(changed)
    try:
        yield
    finally:
        engine.set({name: before[name] for name in changed if name in before})
        engine.unset([name for name in changed if name not in before])


@contextmanager
def as_written(engine: Engine, sql: str) -> Generator[None, None, None]:
    """Run our statement in a session that does not substitute `${name}`."""
    if "${" not in sql:
        yield
        return
    with session_with(engine, {_SUBSTITUTE: "false"}):
        yield


def is_as_written(view_settings: Mapping[str, str], text: str) -> bool:
    """Whether Spark reads a view's text literally, without substituting session values."""
    return "${" not in text or view_settings.get(_SUBSTITUTE, "").lower() == "false"
