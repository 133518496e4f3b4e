"""States in Iceberg tables.

source  Iceberg 1.11. Options of INSERT put the frontier into the snapshot of its data, and make Iceberg check
        the commit against the snapshot that was read; with `replace where false` it also checks an append.
        MERGE and CREATE TABLE take no options. There a session setting holds the frontier, and a MERGE
        checks the newest snapshot in its source.
tested  tests/unit/test_iceberg_states.py, tests/spark/test_iceberg_states.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from sparkivm.engine import SNAPSHOT, Commit, EngineError, RelationFacts
from sparkivm.formats.iceberg import RETENTION
from sparkivm.formats.iceberg_metadata import COMPACTION, FRONTIER, PARENT, columns_of_commit, keeps_rows
from sparkivm.formats.state_format import (
    AS_WE_WRITE,
    Done,
    Expiry,
    RowCounts,
    StateFormat,
    Tag,
    Write,
)
from sparkivm.formats.waiting import span_ms
from sparkivm.names import TableName, quoted
from sparkivm.spark.data_types import INT, STRING, SparkType

_BY_OPTIONS = ("append_state", "rewrite_state")
_GUARD = "someone else wrote to the state"
_CONFLICTS = (
    _GUARD,
    "Found conflicting files",
    "Found conflicting deleted files",
    "Found new conflicting delete files",
    "Missing required files to delete",  # a compaction replaced them
    "Cannot commit, missing data files",
    "Cannot determine history between starting snapshot",  # the state was replaced or rolled back
    "CommitFailedException",
)
_OTHER_TYPES = "types incompatible with the existing columns"  # a Hive metastore compares them by position
_PROPERTIES = {
    "format-version": "2",
    # Views above read a state by `.changes`, which refuses tables with delete files.
    "write.merge.mode": "copy-on-write",
    # Each commit rewrites the whole metadata, including frontiers.
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
}
# Iceberg lets a snapshot be so much older than the one before it, as drivers have clocks of their own.
_CLOCK_SKEW_MS = 60_000
_DAY_MS = 24 * 3600 * 1000


class IcebergStates(StateFormat):
    """The tag's JSON is in the commit's snapshot summary."""

    provider = "iceberg"
    replaces_parts = False
    clusters = False
    reserved = frozenset()
    not_in = ("", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    commits_as_described = True
    versions_are_a_line = False  # a rollback makes no commit

    def stored(self, type: SparkType) -> SparkType:
        """TINYINT and SMALLINT become INT; texts lose length and collation."""
        if type.word in ("tinyint", "smallint"):
            return INT
        if type.word in ("char", "varchar", "string"):
            return STRING
        return replace(type, parts=tuple(map(self.stored, type.parts)))

    def properties(self, *, marks_deleted: bool = False) -> Mapping[str, str]:
        return _PROPERTIES

    def retention(self, kept: str) -> Mapping[str, str]:
        return {RETENTION: str(span_ms(kept))}

    def partition_value(self, name: str, type_: str) -> str:
        return ""

    def make(
        self,
        table: TableName,
        properties: Mapping[str, str],
        make: Callable[[Mapping[str, str]], Done],
        run: Callable[[Write], object],
    ) -> Done:
        return make(properties)

    def clone(
        self, table: TableName, origin: RelationFacts, properties: Mapping[str, str], location: str | None
    ) -> Write | None:
        return None

    def drop(self, table: TableName) -> Write:
        """With PURGE: otherwise a catalog forgets the table but keeps its files."""
        return Write("drop_own_table", {"table": table.sql, "purge": True})

    def expiry(self, table: RelationFacts, now_ms: int, days: float, needed_ms: float) -> Expiry | None:
        """Iceberg keeps the newest snapshot in any case."""
        kept_ms = max(int(table.properties.get(RETENTION, 0)), days * _DAY_MS)
        before_ms = int(min(now_ms - kept_ms, needed_ms - _CLOCK_SKEW_MS))
        moment = datetime.fromtimestamp(before_ms / 1000, timezone.utc)
        arguments = {
            "table": table.name.sql,
            "catalog": quoted(table.name.catalog) if table.name.catalog else "",
            "older_than": f"{moment:%Y-%m-%d %H:%M:%S.%f} UTC",
        }
        return Expiry(before_ms, Write("expire_snapshots", arguments))

    def before_change(self, table: RelationFacts, own: Mapping[str, str]) -> Write | None:
        return None

    def unchanged(self, table: TableName, columns: Sequence[str], properties: Mapping[str, str]) -> Write:
        nothing = f"select * from {table.sql} where false"
        return Write("append_state", {"state": table.sql, "columns": columns, "select": nothing})

    def tagged(self, write: Write, tag: Tag) -> tuple[Write, Mapping[str, str]]:
        read = tag.after.snapshot if tag.after else 0
        if write.macro in _BY_OPTIONS:
            options = {f"snapshot-property.{FRONTIER}": tag.metadata, "isolation-level": "serializable"}
            if read:
                options["validate-from-snapshot-id"] = str(read)
            return Write(write.macro, {**write.arguments, "options": options}), AS_WE_WRITE
        arguments = dict(write.arguments)
        if write.macro == "merge_state" and tag.after is not None:
            arguments["source"] = _guarded(arguments["source"], tag.after.name, read)
        return Write(write.macro, arguments), {
            **AS_WE_WRITE,
            f"spark.sql.iceberg.snapshot-property.{FRONTIER}": tag.metadata,
        }

    def is_conflict(self, error: EngineError) -> bool:
        return any(words in str(error) for words in _CONFLICTS)

    def must_be_dropped(self, error: EngineError) -> bool:
        return _OTHER_TYPES in str(error)

    def line(self, table: RelationFacts, commits: Sequence[Commit]) -> Iterator[Commit]:
        return _back_from(str(table.snapshot), commits)

    def before(self, commit: Commit, commits: Sequence[Commit]) -> Iterator[Commit]:
        return _back_from(commit.parameters[PARENT], commits)

    def changes_rows(self, commit: Commit) -> bool:
        return not keeps_rows(commit)

    def changes_columns(self, commit: Commit) -> bool:
        return False  # an ALTER makes no snapshot; column ids show the change

    def column_ids(self, commit: Commit) -> Mapping[str, str]:
        return columns_of_commit(commit)

    def is_compaction(self, commit: Commit) -> bool:
        return commit.operation == COMPACTION

    def row_counts(self, commit: Commit) -> RowCounts:
        """Not known if files were rewritten, because these contain unchanged rows too."""
        added = commit.count("added-records") or 0
        whole = added == (commit.count("total-records") or 0)
        return RowCounts(added) if whole or not commit.count("deleted-records") else RowCounts()

    def rows(self, commits: Iterable[Commit]) -> int | None:
        """Each snapshot has the total; delete files are not subtracted from it."""
        newest = next(iter(commits), None)
        if newest is None or newest.count("total-delete-files"):
            return None
        return newest.count("total-records")


ICEBERG_STATES = IcebergStates()


def _back_from(snapshot: str, commits: Sequence[Commit]) -> Iterator[Commit]:
    by_id = {commit.id: commit for commit in commits}
    while found := by_id.get(f"{SNAPSHOT}:{snapshot}"):
        yield found
        snapshot = found.parameters[PARENT]


def _guarded(source: str, table: TableName, read: int) -> str:
    """A MERGE source that fails if the table's newest snapshot is not the one that was read."""
    newest = f"(select max(snapshot_id) from {table.sql}.{quoted('refs')} where name = 'main')"
    return (
        f"select * from (\n{source}\n) as changes\nwhere if({newest} = {read}, true, raise_error('{_GUARD}'))"
    )
