"""The interface to the format of a table with versions: how to find and read its changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.engine import Commit, Field, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.formats.source_change import SourceChange
from sparkivm.formats.waiting import Waiting
from sparkivm.names import TableName
from sparkivm.reasons import Reason


class TableFormat(ABC):
    """One implementation for each format."""

    @abstractmethod
    def change(self, source: RelationFacts, known: SourceFrontier, commits: Sequence[Commit]) -> SourceChange:
        """Compare a source with what the view knows of it, using only metadata.

        commits  of the source, from the frontier's version on (inclusive)
        Raises: NotIncremental if the change cannot be read.
        """

    @abstractmethod
    def waiting(self, source: RelationFacts, known: SourceFrontier, commits: Sequence[Commit]) -> Waiting:
        """The commits that the view has not read yet.

        commits  as for `change`, which did not raise
        """

    @abstractmethod
    def at(self, source: RelationFacts, known: SourceFrontier) -> RelationFacts:
        """A source at the version in a frontier."""

    @abstractmethod
    def old_rows(self, table: TableName, change: SourceChange) -> str:
        """FROM item of the table before a change."""

    @abstractmethod
    def recorded_rows(self, table: TableName, change: SourceChange, columns: Sequence[str]) -> str:
        """A SELECT of the rows that the table recorded as changed, with their weights.

        columns  items of the SELECT
        """

    @abstractmethod
    def records_changes(self, source: RelationFacts) -> bool:
        """Whether a table records its changes from its newest version on."""

    @abstractmethod
    def identity(self, column: Field) -> str:
        """The text that a frontier stores for a column: it differs for another type, or another column."""

    def check_columns(self, source: RelationFacts, known: SourceFrontier) -> None:
        """Raises: NotIncremental for a column that the view read and that has changed."""
        now = {field.name.lower(): field for field in source.fields}
        for name, before in known.fields.items():
            found = now.get(name.lower())
            if found is not None and self.identity(found) == before:
                continue
            type_ = before.partition(" #")[0]
            if found is None:
                what = f"column {name} no longer exists"
            elif found.type == type_:
                what = f"column {name} was replaced by another column of that name"
            else:
                what = f"column {name} is {found.type}, was {type_}"
            raise NotIncremental(Reason.SOURCE_SCHEMA_CHANGED, f"{source.source}: {what}")
