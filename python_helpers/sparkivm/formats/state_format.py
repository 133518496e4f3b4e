"""The interface to the format of a refresh's own tables: states and mirrors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from sparkivm.engine import Commit, EngineError, RelationFacts
from sparkivm.names import TableName, quoted
from sparkivm.spark.data_types import SparkType

Done = TypeVar("Done")
# Settings of each statement that writes to a state, whatever the session says; in the spelling of defaults.
AS_WE_WRITE = {
    "spark.sql.sources.partitionOverwriteMode": "STATIC",  # INSERT OVERWRITE replaces all partitions
    "spark.sql.storeAssignmentPolicy": "ANSI",  # decimal sums have more digits than their column
}


@dataclass(frozen=True)
class Write:
    """A statement that changes a table: the macro that prints it, and the macro's arguments."""

    macro: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Tag:
    """Data in a commit by which it is found again, and by which only one of two drivers succeeds.

    metadata     JSON that contains the nonce
    application  the id of the application that commits
    number       of the transaction: must be above that of the application's last commit
    after        the table when the refresh decided to write; None if there was none
    """

    metadata: str
    nonce: str
    application: str
    number: int
    after: RelationFacts | None = None


@dataclass(frozen=True)
class RowCounts:
    """Numbers of a state's rows that a commit wrote; None if it does not say."""

    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None


@dataclass(frozen=True)
class Expiry:
    """The time in ms before which snapshots are removed, and the statement that does it."""

    before_ms: int
    write: Write


class StateFormat(ABC):
    """One implementation for each format in which states can be stored.

    provider              the format's name in CREATE TABLE, and the kind of such a relation
    replaces_parts        whether one commit can replace the rows for which a predicate is true
    clusters              whether CREATE TABLE accepts CLUSTER BY
    reserved              names that no column of such a table can have, in lower case
    not_in                classes of catalogs that cannot have such tables; "" is Spark's own
    commits_as_described  whether an engine sees only the commits that existed when it described the table
    versions_are_a_line   whether a commit always follows the one with the version before its own
    """

    provider: ClassVar[Literal["delta", "iceberg"]]
    replaces_parts: ClassVar[bool]
    clusters: ClassVar[bool]
    reserved: ClassVar[frozenset[str]]
    not_in: ClassVar[tuple[str, ...]]
    commits_as_described: ClassVar[bool]
    versions_are_a_line: ClassVar[bool]

    @abstractmethod
    def stored(self, type: SparkType) -> SparkType:
        """The type of a query's column after it was stored in a table."""

    def keeps(self, type: SparkType) -> bool:
        return self.stored(type) == type

    @abstractmethod
    def properties(self, *, marks_deleted: bool = False) -> Mapping[str, str]:
        """Properties of a table that records its changes.

        marks_deleted  whether rows are only marked as deleted, so that a large table can change in place
        """

    @abstractmethod
    def retention(self, kept: str) -> Mapping[str, str]:
        """Properties of a table that keeps its history for a time such as "30 days"."""

    @abstractmethod
    def partition_value(self, name: str, type_: str) -> str:
        """The value of a partition column, with an error where another would be stored; "" if none would.

        name   of the partition column
        type_  of it; "" if unknown
        """

    def checked(
        self,
        select: str,
        columns: Sequence[tuple[str, str]],
        partitioned_by: Collection[str],
        *,
        in_order: bool = True,
    ) -> str:
        """The SELECT of rows to write, with an error for a partition value that the format would change.

        columns         names and types of the result; "" for an unknown type
        partitioned_by  the table's partition columns
        in_order        whether the result has exactly these columns, in their order; else it may have others
        """
        named = {name.lower() for name in partitioned_by}
        values = {name: self.partition_value(name, type_) for name, type_ in columns if name.lower() in named}
        checked = {name: f"{value} as {quoted(name)}" for name, value in values.items() if value}
        if not checked:
            return select
        if in_order:
            items = [checked.get(name, quoted(name)) for name, _ in columns]
        else:
            items = [f"* except ({', '.join(map(quoted, checked))})", *checked.values()]
        return f"select {', '.join(items)}\nfrom (\n{select}\n) as written"

    @abstractmethod
    def make(
        self,
        table: TableName,
        properties: Mapping[str, str],
        make: Callable[[Mapping[str, str]], Done],
        run: Callable[[Write], object],
    ) -> Done:
        """Create or replace a table, with what its columns need in this format.

        properties  the table's properties
        make        creates it with those properties that one statement can set
        run         runs another statement, for the rest
        Raises: EngineError, and what `make` raises.
        """

    @abstractmethod
    def clone(
        self, table: TableName, origin: RelationFacts, properties: Mapping[str, str], location: str | None
    ) -> Write | None:
        """A statement that creates a copy that shares the files; None if the format has no such statement."""

    @abstractmethod
    def drop(self, table: TableName) -> Write:
        """A statement that drops a table with its files."""

    @abstractmethod
    def expiry(self, table: RelationFacts, now_ms: int, days: float, needed_ms: float) -> Expiry | None:
        """How to remove old snapshots; None if the format's own maintenance removes them.

        days       to keep them for, unless the table's properties say longer
        needed_ms  the time of the oldest snapshot that is needed
        """

    @abstractmethod
    def before_change(self, table: RelationFacts, own: Mapping[str, str]) -> Write | None:
        """The statement to run once before rows of a large table are replaced or merged; None if not needed.

        own  properties that the user set on the table
        """

    @abstractmethod
    def unchanged(self, table: TableName, columns: Sequence[str], properties: Mapping[str, str]) -> Write:
        """A statement whose commit changes no row, and can carry a tag.

        columns     of the table, quoted
        properties  that distinguish it from other commits of this kind
        """

    @abstractmethod
    def tagged(self, write: Write, tag: Tag) -> tuple[Write, Mapping[str, str]]:
        """The statement whose commit carries the tag, and session settings for its execution."""

    @abstractmethod
    def is_conflict(self, error: EngineError) -> bool:
        """Whether a statement failed because another commit came first."""

    @abstractmethod
    def line(self, table: RelationFacts, commits: Sequence[Commit]) -> Iterator[Commit]:
        """The commits that led to the table's version, newest first, until one is missing.

        commits  above some version, oldest first
        """

    @abstractmethod
    def before(self, commit: Commit, commits: Sequence[Commit]) -> Iterator[Commit]:
        """The commits that led to one of them, newest first, until one is missing."""

    @abstractmethod
    def changes_rows(self, commit: Commit) -> bool:
        """Whether a commit may have changed the rows of its table."""

    @abstractmethod
    def must_be_dropped(self, error: EngineError) -> bool:
        """Whether a table was not replaced because the catalog accepts only other columns."""

    @abstractmethod
    def changes_columns(self, commit: Commit) -> bool:
        """Whether a commit may make a name refer to a different column."""

    @abstractmethod
    def column_ids(self, commit: Commit) -> Mapping[str, str]:
        """The ids of the columns at a commit, as far as they are known, by their names in lower case."""

    @abstractmethod
    def is_compaction(self, commit: Commit) -> bool:
        """Whether a commit wrote the same rows again; it may repeat the metadata of the previous commit."""

    @abstractmethod
    def row_counts(self, commit: Commit) -> RowCounts:
        """The numbers of rows that a commit reports."""

    @abstractmethod
    def rows(self, commits: Iterable[Commit]) -> int | None:
        """The number of a table's rows, as far as its commits say; None if they do not.

        commits  as from `line`; not all of them are needed
        """
