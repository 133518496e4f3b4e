"""Iceberg tables: what happened to a source since the frontier, and how its changes are read.

A version is a snapshot: VERSION AS OF takes its id. The snapshots between two follow only from their
parents; sequence numbers and times only say which one is newer.

source  `t.changes` lists the rows of data files that were added or removed, so rows of a file that an
        UPDATE rewrote are listed twice. It refuses ranges of a table that has delete files (Iceberg 1.11).
tested  tests/unit/test_iceberg_changes.py, tests/spark/test_iceberg_sources.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.engine import Commit, Field, RelationFacts, snapshot_of
from sparkivm.errors import NotIncremental
from sparkivm.formats.iceberg_metadata import COMPACTION, PARENT, columns_of_commit, keeps_rows, nothing_of
from sparkivm.formats.source_change import SourceChange, conflated
from sparkivm.formats.table_format import TableFormat
from sparkivm.formats.waiting import NOTHING, Waiting
from sparkivm.names import WEIGHT, TableName
from sparkivm.reasons import Reason

_APPEND = "append"
_OF_CHANGES = {"_change_type", "_change_ordinal", "_commit_snapshot_id"}  # columns of `.changes`
RETENTION = "history.expire.max-snapshot-age-ms"
_RETENTION_MS = 5 * 24 * 3600 * 1000  # Iceberg's default
_FEWEST_KEPT = "history.expire.min-snapshots-to-keep"


class Iceberg(TableFormat):
    """Tables of format 2 and 3, by `.changes` or by comparing two snapshots."""

    def change(self, source: RelationFacts, known: SourceFrontier, commits: Sequence[Commit]) -> SourceChange:
        if source.table_id != known.table_id:
            raise NotIncremental(
                Reason.SOURCE_REPLACED, f"{source.source} was recreated, or restored from a backup"
            )
        old, new = snapshot_of(known.commit_id), source.snapshot
        self.check_columns(source, known)
        if old == new:
            return SourceChange("none", old, new)
        by_id = {snapshot_of(commit.id): commit for commit in commits}
        if old and old not in by_id:
            raise NotIncremental(Reason.HISTORY_UNAVAILABLE, f"{source.source} no longer has snapshot {old}")
        if old and not _has_columns(by_id[old], known):
            what = f"columns of {source.source} were altered after snapshot {old}"
            raise NotIncremental(Reason.SOURCE_SCHEMA_CHANGED, what)
        later = list(_back_to(old, new, by_id))
        if later and all(map(keeps_rows, later)):
            return SourceChange("none", old, new)
        rows = sum(_rows(commit) for commit in later)
        columns = conflated(source.fields)
        files = [*later, by_id[old]] if old else later
        unreadable = any(commit.count("total-delete-files") for commit in files) or _hides_changes(source)
        if unreadable or not (new and later):
            return SourceChange(
                "diff", old, new, rows, counted=False, whole_files=True, nets=True, scans=2, conflated=columns
            )
        appends = all(commit.operation == _APPEND or keeps_rows(commit) for commit in later)
        before = by_id[old].count("total-records") if old else 0
        after = by_id[new].count("total-records")
        growth = None if before is None or after is None else after - before
        return SourceChange(
            "feed", old, new, rows,
            counted=appends, append_only=appends, nets=not appends, growth=growth,
            whole_files=not appends, conflated=columns,
        )  # fmt: skip

    def waiting(self, source: RelationFacts, known: SourceFrontier, commits: Sequence[Commit]) -> Waiting:
        """The table has to keep the frontier's snapshot, until somebody calls `expire_snapshots`.

        It does so for the table's own time, and as long as a tag is on the snapshot, whichever is longer.
        """
        old, new = snapshot_of(known.commit_id), source.snapshot
        if old == new:
            return NOTHING
        path = list(_back_to(old, new, {snapshot_of(commit.id): commit for commit in commits}))
        changing = tuple(commit for commit in reversed(path) if not keeps_rows(commit))
        fewest = int(source.properties.get(_FEWEST_KEPT, 1))
        if not old or len(path) < fewest:  # it is among the newest ones
            return Waiting(changing)
        kept_ms = known.timestamp_ms + int(source.properties.get(RETENTION, _RETENTION_MS))
        for tag in (tag for tag in source.tags.values() if tag.snapshot == old):
            if tag.until_ms is None:
                return Waiting(changing)
            kept_ms = max(kept_ms, tag.until_ms)
        return Waiting(changing, kept_ms)

    def at(self, source: RelationFacts, known: SourceFrontier) -> RelationFacts:
        if source.commit_id == known.commit_id or source.table_id != known.table_id:
            return source
        read_as = "" if snapshot_of(known.commit_id) else nothing_of(source.name)
        return replace(source, version=known.version, commit_id=known.commit_id, read_as=read_as)

    def old_rows(self, table: TableName, change: SourceChange) -> str:
        return f"{table.sql} version as of {change.old}" if change.old else nothing_of(table)

    def recorded_rows(self, table: TableName, change: SourceChange, columns: Sequence[str]) -> str:
        weight = f"case _change_type when 'INSERT' then 1 else -1 end as {WEIGHT}"
        options = [f"'start-snapshot-id' = '{change.old}'"] if change.old else []
        options.append(f"'end-snapshot-id' = '{change.new}'")
        return f"select {', '.join([*columns, weight])}\nfrom {table.sql}.changes with ({', '.join(options)})"

    def records_changes(self, source: RelationFacts) -> bool:
        return True

    def identity(self, column: Field) -> str:
        return f"{column.type} #{column.mapped_to}"


ICEBERG = Iceberg()


def _back_to(old: int, new: int, by_id: dict[int, Commit]) -> Iterator[Commit]:
    """The snapshots after `old` up to `new`, newest first; empty if `old` is not an ancestor of `new`."""
    path = []
    at = new
    while at != old:
        if at not in by_id:
            return
        path.append(by_id[at])
        at = int(by_id[at].parameters[PARENT])
    yield from path


def _hides_changes(source: RelationFacts) -> bool:
    """Whether a column has the name of one that `.changes` adds."""
    return not _OF_CHANGES.isdisjoint(field.name.lower() for field in source.fields)


def _has_columns(commit: Commit, known: SourceFrontier) -> bool:
    """Whether VERSION AS OF a snapshot has the same columns that the view read."""
    own = columns_of_commit(commit)
    return all(own.get(name.lower()) == before.partition(" #")[2] for name, before in known.fields.items())


def _rows(commit: Commit) -> int:
    """Rows in the data files that a commit added or removed: changed rows, and others in the same files."""
    if commit.operation == COMPACTION:
        return 0
    return (commit.count("added-records") or 0) + (commit.count("deleted-records") or 0)
