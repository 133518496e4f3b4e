"""What a refresh asks of the format of the tables that it keeps itself: states and mirrors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from sparkivm.engine import Commit, EngineError, RelationFacts
from sparkivm.names import TableName
from sparkivm.spark.data_types import SparkType

Done = TypeVar("Done")


@dataclass(frozen=True)
class Write:
    """A statement that changes a table: the macro that prints it, and the macro's arguments."""

    macro: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Tag:
    """What a commit carries, so that it is found again and only one of two drivers gets through.

    metadata     JSON, in which the nonce occurs
    application  whose transaction the commit is
    number       of the transaction: has to be above that of the application's last commit
    after        the table as it was when it was decided to write; None if there was none
    """

    metadata: str
    nonce: str
    application: str
    number: int
    after: RelationFacts | None = None


@dataclass(frozen=True)
class RowCounts:
    """Rows of a state that a commit wrote, None where it does not say."""

    inserted: int | None = None
    updated: int | None = None
    deleted: int | None = None


class StateFormat(ABC):
    """One implementation for each format in which states can be stored.

    provider              as CREATE TABLE calls it, and the kind of such a relation
    replaces_parts        whether one commit can replace the rows for which a predicate is true
    clusters              whether CREATE TABLE takes CLUSTER BY
    not_in                classes of catalogs that cannot have such tables; "" is Spark's own
    commits_as_described  whether an engine knows only the commits that were there when it described the table
    """

    provider: ClassVar[Literal["delta", "iceberg"]]
    replaces_parts: ClassVar[bool]
    clusters: ClassVar[bool]
    not_in: ClassVar[tuple[str, ...]]
    commits_as_described: ClassVar[bool]

    @abstractmethod
    def stored(self, type: SparkType) -> SparkType:
        """The type that a column of a query has when it is read back from a table."""

    def keeps(self, type: SparkType) -> bool:
        return self.stored(type) == type

    @abstractmethod
    def properties(self, *, marks_deleted: bool = False) -> Mapping[str, str]:
        """Properties of a table that records its changes.

        marks_deleted  whether rows are marked as deleted, so that a large table can change in place
        """

    @abstractmethod
    def retention(self, kept: str) -> Mapping[str, str]:
        """Properties of a table whose history is kept for a time, as "30 days"."""

    @abstractmethod
    def make(
        self,
        table: TableName,
        properties: Mapping[str, str],
        make: Callable[[Mapping[str, str]], Done],
        run: Callable[[Write], object],
    ) -> Done:
        """Make or replace a table, with what its columns need of the format.

        properties  those that the table should have
        make        makes it with the properties that one statement can set
        run         runs another statement, for the rest of them
        Raises: EngineError, and what `make` raises.
        """

    @abstractmethod
    def drop(self, table: TableName) -> Write:
        """A statement that drops a table with its files."""

    @abstractmethod
    def before_change(self, table: RelationFacts, own: Mapping[str, str]) -> Write | None:
        """What has to be done once before rows of a large table are replaced or merged; None if it was done.

        own  properties that the user gave the table
        """

    @abstractmethod
    def unchanged(self, table: TableName, columns: Sequence[str], properties: Mapping[str, str]) -> Write:
        """A statement whose commit changes no row, and can carry a tag.

        columns     of the table, quoted
        properties  that tell it from other commits of this kind
        """

    @abstractmethod
    def tagged(self, write: Write, tag: Tag) -> tuple[Write, Mapping[str, str]]:
        """The statement whose commit carries the tag, and settings of the session while it runs."""

    @abstractmethod
    def is_conflict(self, error: EngineError) -> bool:
        """Whether a statement failed because another commit came first."""

    @abstractmethod
    def line(self, table: RelationFacts, commits: Sequence[Commit]) -> Iterator[Commit]:
        """Those commits that led to the table's version, newest first, up to one that is missing.

        commits  above some version, oldest first
        """

    @abstractmethod
    def changes_rows(self, commit: Commit) -> bool:
        """Whether a commit may have changed the rows of its table."""

    @abstractmethod
    def changes_columns(self, commit: Commit) -> bool:
        """Whether a column's name may stand for another column since a commit."""

    @abstractmethod
    def is_compaction(self, commit: Commit) -> bool:
        """Whether a commit wrote the same rows again; it may repeat the metadata of the commit before it."""

    @abstractmethod
    def row_counts(self, commit: Commit) -> RowCounts:
        """What a commit says of the rows that it wrote."""
