"""The one way out of the compiler: what it asks of a Spark connection."""

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


@dataclass(frozen=True)
class Field:
    """One column of a relation: `type` as the text of its `spark_type` (`decimal(10,2)`).

    char_length  n of CHAR(n) in a table or view, whose type is string: Spark pads what is compared with it
    mapped_to    where a Delta table maps its columns: what tells this one from another of its name; "" where
                 that is not known
    """

    name: str
    type: str
    nullable: bool = True
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
    def can_be_merged(self) -> bool:
        """Whether MERGE takes a table with it: of CHAR, Delta does not find the columns that Spark pads."""
        return self.spark_type.joinable and self.char_length is None


@dataclass(frozen=True)
class RelationFacts:
    """What the catalog, and the metadata of a table that has versions, say of a relation now."""

    name: TableName
    kind: Literal["delta", "iceberg", "view", "other"]
    fields: tuple[Field, ...]
    properties: Mapping[str, str] = field(default_factory=dict)  # as set by TBLPROPERTIES
    # tables that have versions, of Delta or Iceberg
    table_id: str = ""
    version: int = -1
    commit_id: str = field(default="", compare=False)  # of that version's commit, as `Commit.id`
    size_bytes: int | None = None  # bytes of the current files, where known without a Spark job
    partition_columns: tuple[str, ...] = ()
    # views
    view_text: str = ""
    comment: str = ""
    view_namespace: tuple[str, ...] = ()  # catalog and schema in which the view's text was analysed
    view_settings: Mapping[str, str] = field(
        default_factory=dict
    )  # with which it was; all that were not default
    temporary: bool = False
    # anything else: parquet, csv, hive, jdbc ...
    provider: str = ""
    # a Delta table that is kept as the copy of a source without history
    mirror_of: TableName | None = None
    read_as: str = ""  # FROM item of its newest version, where VERSION AS OF shows something else

    @property
    def at(self) -> tuple[str, int, str]:
        """Which table, and which version and commit of it: two that agree in this have the same rows."""
        return self.table_id, self.version, self.commit_id

    @property
    def has_versions(self) -> bool:
        return self.kind in ("delta", "iceberg")

    @property
    def snapshot(self) -> int:
        """What VERSION AS OF takes for its version."""
        return snapshot_of(self.commit_id) if self.kind == "iceberg" else self.version

    @property
    def pinned(self) -> str:
        """FROM item of the table at its version."""
        return self.read_as or f"{self.name.sql} version as of {self.snapshot}"

    @property
    def source(self) -> TableName:
        """The relation as models name it; `name` is what is read for it."""
        return self.mirror_of or self.name

    @property
    def key(self) -> str:
        return self.source.key


SNAPSHOT = "snapshot"  # the kind of id that an Iceberg table's commits have


def snapshot_of(commit_id: str) -> int:
    """The number of an Iceberg table's snapshot, from the id of its commit."""
    return int(commit_id.split(":")[1])


@dataclass(frozen=True)
class Commit:
    """One entry of a table's history: a version of Delta's, a snapshot of Iceberg's.

    id  what tells it from another commit with the same number, behind the kind of id and a colon; "" where
        nothing does. Ids of different kinds cannot be compared.
    """

    version: int
    timestamp_ms: int
    operation: str  # "WRITE", "MERGE", "DELETE", "OPTIMIZE", "CREATE OR REPLACE TABLE AS SELECT" ...
    metrics: Mapping[str, str]  # operationMetrics
    parameters: Mapping[str, str]  # operationParameters
    user_metadata: str | None = None
    id: str = ""

    def count(self, metric: str) -> int | None:
        """A metric that counts something, None if the commit does not say."""
        value = self.metrics.get(metric, "")
        return int(value) if value.isdigit() else None


def are_of_one_kind(one: str, other: str) -> bool:
    """Whether the ids of two commits can be compared."""
    kind = one.partition(":")[0]
    return kind != "" and kind == other.partition(":")[0]


def is_another(one: str, other: str) -> bool:
    """Whether the ids of two commits say that these are two."""
    return are_of_one_kind(one, other) and one != other


class Engine(Protocol):
    """A Spark connection whose session settings nobody else uses.

    Errors of Spark reach the caller as `EngineError`, whatever the driver raised, or as `EngineLost`.
    """

    def query(self, sql: str) -> Sequence[Row]:
        """Run a SELECT, SHOW, DESCRIBE or EXPLAIN and return all of its rows."""

    def execute(self, sql: str) -> Sequence[Row]:
        """Run DDL or DML. Returns: its own rows (`num_affected_rows` of a MERGE), else none."""

    def render(self, macro: str, **arguments: Any) -> str:
        """The text of one of the project's statement macros, which a user may have overridden."""

    def describe(self, name: TableName) -> RelationFacts | None:
        """What is known of a relation now, None if there is none of this name."""

    def describe_all(self, names: Sequence[TableName]) -> Sequence[RelationFacts | None]:
        """The same of several relations, which may be looked at side by side."""
        return [self.describe(name) for name in names]

    def invalidate(self, name: TableName) -> None:
        """Let the session's catalog forget a table that another session described."""

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        """The commits of a table above version `after`, oldest first; what is gone is missing."""

    def names_like(self, prefix: TableName) -> Sequence[TableName]:
        """The tables and views of the prefix's schema whose names begin with its identifier, in any case."""

    def properties_at(self, location: str) -> Mapping[str, str] | None:
        """Properties of the Delta table whose files are at a path, None if there is no such table."""

    def check_files(self, table: RelationFacts) -> None:
        """Raises: EngineError if a file of a table that has versions is gone or cut short."""
        # No statistics answer it, so each file is opened. Iceberg reads no file for max(_pos).
        column = "_metadata.file_size" if table.kind == "delta" else "abs(_pos)"
        self.query(f"select max({column}) from {table.name.sql} version as of {table.snapshot}")

    def expect_commit(self, table: TableName) -> None:
        """A hint: a commit to this Delta table follows soon. What takes Delta long may begin now."""

    def substituted(self, sql: str) -> str:
        """A text with the values that Spark puts in the place of `${name}` when a session runs it.

        Raises: EngineError for a value that no text can hold.
        """

    def check_query(self, sql: str) -> None:
        """Raises: EngineError, with its position, for a text that to Spark is not one query. Runs nothing."""

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        """Names, types and nullability of a query's columns, by analysis only; EngineError for a command."""

    def analyzed_plan(self, sql: str) -> str:
        """Spark's analysed logical plan of a query as text, no column left out; EngineError for a command."""

    def namespace(self) -> tuple[str, ...]:
        """The current catalog, and the current schema in it."""

    def variables(self, names: Collection[str]) -> frozenset[str]:
        """Those of some names, in lower case, that variables of the session have."""

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        """Those of some names that stand for functions of users, also where Spark has one of this name.

        Where that can be seen, with all of Spark's functions that the session has replaced.
        """

    def set(self, settings: Mapping[str, str]) -> None:
        """Set session settings."""

    def unset(self, settings: Sequence[str]) -> None:
        """Put session settings back to what they were when the connection was opened."""

    def settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """Session settings by name; one that is not set is left out."""


class EngineError(Exception):
    """Spark refused or failed a statement; `condition` is its error class, "" where there is none.

    lines_before  lines of the statement before the text that the caller knows
    """

    def __init__(self, message: str, condition: str = "", lines_before: int = 0) -> None:
        super().__init__(message)
        self.condition, self.lines_before = condition, lines_before

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column in the text that the caller knows, both from 1; None where Spark names none."""
        found = _POSITION.search(str(self))
        line = int(found[1]) - self.lines_before if found else 0
        return (line, int(found[2]) + 1) if found and line > 0 else None

    def below(self, lines: int) -> EngineError:
        """The same error of a text that begins some lines further down in its statement."""
        return EngineError(str(self), self.condition, self.lines_before + lines)


class EngineLost(Exception):
    """There is no Spark to ask any more. No `EngineError`: nothing that could be tried instead would run."""


@contextmanager
def session_with(engine: Engine, settings: Mapping[str, str]) -> Generator[None, None, None]:
    """The session under some settings, and then as it was: a model's hooks may have set others."""
    before = engine.settings(tuple(settings))
    engine.set(settings)
    try:
        yield
    finally:
        engine.set(before)
        engine.unset([name for name in settings if name not in before])


@contextmanager
def as_written(engine: Engine, sql: str) -> Generator[None, None, None]:
    """A session that takes `${name}` in a statement of ours for what it says."""
    if "${" not in sql:
        yield
        return
    with session_with(engine, {_SUBSTITUTE: "false"}):
        yield


def is_as_written(view_settings: Mapping[str, str], text: str) -> bool:
    """Whether Spark takes a view's text for what it says, and puts no values of the session in it."""
    return "${" not in text or view_settings.get(_SUBSTITUTE, "").lower() == "false"
