"""The table of a dbt seed: kept from run to run, and changed by the rows in which the file differs.

dbt-spark drops and creates the table in each run, so each view over it would be rebuilt. We keep the table
that dbt created, as long as the file has the same columns and the seed the same options. We leave it as it is
only if it had the rows of this very file at some commit, as a session with these settings loads them, and no
later one may have changed a row or a column.

tested  tests/refresh/test_seed_table.py, tests/dbt/test_seeds.py
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from sparkivm.changes.mirror_texts import MirrorTexts
from sparkivm.digest import digest
from sparkivm.engine import Commit, Engine, EngineError, RelationFacts
from sparkivm.errors import SeedError
from sparkivm.formats import STATE_FORMATS, format_of
from sparkivm.formats.source_change import conflated
from sparkivm.marker import Marker, Owner, Role
from sparkivm.names import TableName, step_table
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.row_differences import Applied, apply_differences
from sparkivm.refresh.stored.commit import Conflict

_PROPERTY = "sparkivm.seed"
_UNKNOWN = "-"
# Settings that decide what dbt's INSERT makes of the texts in a file.
_OF_CASTS = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.timestampType",
    "spark.sql.parser.escapedStringLiterals",
)
_CREATES = "CREATE TABLE"  # Delta's commit of a table without rows; Iceberg has none


@dataclass(frozen=True)
class SeedFile:
    """A seed as dbt reads it.

    columns  their names in order
    layout   hash of everything that decides what table dbt creates
    rows     hash of the values
    """

    columns: tuple[str, ...]
    layout: str
    rows: str


@dataclass(frozen=True)
class SeedRecord:
    """What is known of a seed's table, in one of its properties: hashes and ids without blanks.

    layout        of the file for which dbt created it
    columns       of the table at that time
    rows          of the values that the table had at a commit, as a session reads them, if known
    version, id   of that commit
    """

    layout: str
    columns: str
    rows: str = _UNKNOWN
    version: int = -1
    id: str = _UNKNOWN

    @property
    def properties(self) -> dict[str, str]:
        return {_PROPERTY: f"{self.layout} {self.columns} {self.rows} {self.version} {self.id}"}

    @staticmethod
    def of(table: RelationFacts) -> SeedRecord | None:
        """The table's record; None if it has none that we understand."""
        words = table.properties.get(_PROPERTY, "").split()
        if len(words) != 5 or not words[3].removeprefix("-").isdigit():
            return None
        layout, columns, rows, version, id_ = words
        return SeedRecord(layout, columns, rows, int(version), id_)


@dataclass(frozen=True)
class SeedTable:
    """One seed's table, and the file that it should show.

    owner  of the table that holds the file's rows while they are compared
    """

    engine: RecordingEngine
    name: TableName
    file: SeedFile
    owner: Owner

    @staticmethod
    def of(engine: Engine, name: TableName, file: SeedFile, owner: Owner) -> SeedTable:
        return SeedTable(RecordingEngine(engine), name, file, owner)

    def stays(self) -> bool:
        """Whether dbt created it for these columns and options, and its columns were not altered since."""
        return self._kept() is not None

    def remember(self, inserts: int) -> None:
        """Record that dbt has just created the table for this file.

        inserts  the number of dbt's statements that wrote rows. If there are other commits, somebody else
                 wrote too, and the next run compares the rows.
        """
        table = self.engine.describe(self.name)
        if table is None or table.kind not in STATE_FORMATS:
            return
        record, format = SeedRecord(self.file.layout, _columns(table)), STATE_FORMATS[table.kind]
        commits = self.engine.commits(self.name, -1)
        writes = [c for c in commits if format.changes_rows(c) and c.operation != _CREATES]
        newest = next(format.line(table, commits), None)
        if len(writes) == inserts and newest is not None:
            record = self._with_rows(record, newest)
        self._record(record)

    def follow(self, load: Callable[[TableName], None]) -> Applied | None:
        """Give the table the rows of the file, by at most one commit; None if there is no table any more.

        load  inserts them into an empty table with the seed's columns
        Raises: SeedError if the table cannot be kept any more, or others write to it; EngineError.
        """
        found = self._kept()
        if found is None:
            if self.engine.describe(self.name) is None:
                return None
            raise SeedError(
                self.name,
                "its table was altered or replaced while it was updated",
                "run it again with --full-refresh, and see whether a pre_hook alters it",
            )
        table, record = found
        if record.rows == self._rows and self._is_as_compared(table, record):
            return Applied(table.version)
        try:
            applied = self._with_loaded(table, load)
        except Conflict as error:
            raise SeedError(self.name, str(error), "run it again") from error
        commits = self.engine.commits(self.name, applied.version - 1)
        own = next((commit for commit in commits if commit.version == applied.version), None)
        self._record(record if own is None else self._with_rows(record, own))
        return applied

    @cached_property
    def _rows(self) -> str:
        """Of the file's values as this session reads them: in its time zone, for example."""
        return digest(repr((self.file.rows, sorted(self.engine.settings(_OF_CASTS).items()))))

    def _with_rows(self, record: SeedRecord, commit: Commit) -> SeedRecord:
        """The record of a table that has the file's rows at a commit."""
        return replace(record, rows=self._rows, version=commit.version, id=commit.id or _UNKNOWN)

    def _kept(self) -> tuple[RelationFacts, SeedRecord] | None:
        table = self.engine.describe(self.name)
        if table is None or table.kind not in STATE_FORMATS:
            return None
        record = SeedRecord.of(table)
        if record is None or (record.layout, record.columns) != (self.file.layout, _columns(table)):
            return None
        names = tuple(field.name for field in table.fields)
        comparable = all(field.spark_type.joinable and field.can_be_merged for field in table.fields)
        return (table, record) if comparable and names == self.file.columns else None

    def _is_as_compared(self, table: RelationFacts, record: SeedRecord) -> bool:
        """Whether the table has the rows that it had at the record's commit."""
        format = STATE_FORMATS[table.kind]
        for commit in format.line(table, self.engine.commits(self.name, record.version - 1)):
            if commit.id == record.id:
                return True
            if format.changes_rows(commit) or format.changes_columns(commit):
                return False
        return False

    def _with_loaded(self, table: RelationFacts, load: Callable[[TableName], None]) -> Applied:
        """Compare the table with the file's rows in a table of their own, and apply what differs."""
        loaded = step_table(self.name, f"{int(time.time()):x}_{uuid.uuid4().hex[:8]}_1")
        columns = tuple(field.name for field in table.fields)
        try:
            self.engine.run(
                "stage_step",
                table=loaded.sql,
                select=f"select * from {self.name.sql} where false",
                tblproperties=Marker(self.owner, Role.STEP).properties,
            )
            load(loaded)
            self.engine.run("refresh_source", source=loaded.sql)  # dbt's session may be another one
            texts = MirrorTexts(loaded, self.name, columns, conflated=conflated(table.fields))
            applied = apply_differences(self.engine, table, texts)
        finally:
            with suppress(EngineError):
                self.engine.run("drop_own_table", table=loaded.sql)
        assert applied is not None, "rows are compared as a whole"
        return applied

    def _record(self, record: SeedRecord) -> None:
        properties = record.properties
        self.engine.run("mark_relation", kind="table", relation=self.name.sql, tblproperties=properties)


def _columns(table: RelationFacts) -> str:
    """A hash of the table's columns, which also distinguishes a column from another one of its name."""
    identity = format_of(table).identity
    return digest(repr([(field.name, identity(field)) for field in table.fields]))
