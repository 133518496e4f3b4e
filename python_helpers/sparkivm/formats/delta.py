"""Delta tables: what a commit did, and what happened to a source since the frontier.

tested  tests/unit/test_source_change.py, test_how_changes_are_read.py, test_waiting.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkivm.changes.frontier import SourceFrontier, has_frontier
from sparkivm.engine import Commit, Field, RelationFacts, are_of_one_kind
from sparkivm.errors import NotIncremental
from sparkivm.formats.source_change import SourceChange, conflated
from sparkivm.formats.table_format import TableFormat
from sparkivm.formats.waiting import NOTHING, Waiting, property_ms
from sparkivm.names import WEIGHT, TableName, literal
from sparkivm.reasons import Reason

CHANGE_FEED = "delta.enableChangeDataFeed"
DELETION_VECTORS = "delta.enableDeletionVectors"

# Commits that change no row.
_WITHOUT_ROWS = frozenset(
    {
        "OPTIMIZE", "VACUUM START", "VACUUM END", "REORG", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES",
        "ADD COLUMNS", "CHANGE COLUMN", "CHANGE COLUMNS", "RENAME COLUMN", "UPDATE COLUMN METADATA",
        "ADD CONSTRAINT",
        "DROP CONSTRAINT", "CLUSTER BY", "UPGRADE PROTOCOL", "COMPUTE STATS", "ANALYZE", "DROP FEATURE",
        "ADD FEATURE", "SET TABLE COMMENT", "MANUAL UPDATE TAGS", "DROP COLUMNS",
    }
)  # fmt: skip
# Those of them that put rows into other files.
_REWRITES = frozenset({"OPTIMIZE", "REORG"})
# Commits after which a name may refer to a different column.
COLUMNS_GO = frozenset({"DROP COLUMNS", "RENAME COLUMN", "REPLACE COLUMNS"})
# Commits that may give a column another type.
_CHANGES_TYPES = frozenset({"CHANGE COLUMN", "CHANGE COLUMNS"})
_VACUUM = "VACUUM START"
# Parameters that name columns or properties.
_NAMING = frozenset({"columns", "oldColumnPath", "newColumnPath", "properties"})
_LOG_KEPT = ("delta.logRetentionDuration", "30 days")
_FILES_KEPT = ("delta.deletedFileRetentionDuration", "7 days")
_APPENDS = frozenset({"WRITE", "STREAMING UPDATE", "COPY INTO"})
_MERGE_ROWS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
_COUNTING = frozenset({"MERGE", "UPDATE", "DELETE"})  # report what they deleted
# With more deletes through deletion vectors than this, the feed is slower than comparing two versions: it
# makes one scan for each (Delta's CDCReader.processDeletionVectorActions).
_MOST_VECTOR_DELETES = 20
# How much the times of one commit may differ, if we cannot compare ids: Delta records when it was prepared,
# DESCRIBE HISTORY reports when its file was written.
_SAME_COMMIT_MS = 60_000


class Delta(TableFormat):
    """Delta tables, by their change data feed or by comparing versions."""

    def change(self, source: RelationFacts, known: SourceFrontier, commits: Sequence[Commit]) -> SourceChange:
        old, new = known.version, source.version
        replaced = source.table_id != known.table_id
        if new < old or not _goes_on(commits, known, replaced=replaced):
            raise NotIncremental(
                Reason.SOURCE_REPLACED, f"{source.source} was recreated, or restored from a backup"
            )
        if not replaced and old == new:
            return SourceChange("none", old, new)
        self.check_columns(source, known)
        later = [commit for commit in commits if commit.version > old]
        first = old if known.commit_id else old + 1  # without it we cannot tell whose history this is
        missing = set(range(first, new + 1)) - {commit.version for commit in commits}
        if missing and not replaced:
            raise NotIncremental(
                Reason.HISTORY_UNAVAILABLE,
                f"the log of {source.source} lacks version {min(missing)} of {first}..{new}",
            )
        changing = [commit for commit in later if changes_rows(commit) or _renames(commit, known)]
        columns = conflated(source.fields)
        counts = [_rows(commit) for commit in changing]
        rows, counted = sum(number or 0 for number in counts), None not in counts
        if not changing and not replaced:
            return SourceChange("none", old, new)
        vector_deletes = _vector_deletes(source, changing)
        if (
            replaced
            or not self._feed_covers(source, later)
            # The feed has one schema, and one list of partition columns, for all versions.
            or any(map(_loses_columns, later))
            or any(map(_may_change_schema, later))
            or vector_deletes > _MOST_VECTOR_DELETES
        ):
            return SourceChange("diff", old, new, rows, counted, nets=True, scans=2, conflated=columns)
        append_only = all(map(_appends, changing))
        nets = not all(_appends(c) or c.operation == "DELETE" for c in changing)
        return SourceChange(
            "feed",
            old,
            new,
            rows,
            counted,
            append_only,
            nets,
            vector_deletes,
            growth=growth(changing),
            conflated=columns,
        )

    def waiting(self, source: RelationFacts, known: SourceFrontier, commits: Sequence[Commit]) -> Waiting:
        """The log has to keep the frontier's commit. VACUUM may remove what the first rewrite replaced."""
        later = [commit for commit in commits if commit.version > known.version]
        changing = tuple(commit for commit in later if changes_rows(commit) or _renames(commit, known))
        if not changing:
            return NOTHING
        times = []
        if known.timestamp_ms and (kept_ms := property_ms(source.properties, *_LOG_KEPT)) is not None:
            times.append(known.timestamp_ms + kept_ms)
        rewrites = [commit for commit in later if _removes_files(commit)]
        if rewrites:
            since_ms = rewrites[0].timestamp_ms
            if (kept_ms := property_ms(source.properties, *_FILES_KEPT)) is not None:
                times.append(since_ms + kept_ms)
            times += [c.timestamp_ms for c in later if _vacuumed_before_ms(c) > since_ms]
        return Waiting(changing, min(times, default=None))

    def at(self, source: RelationFacts, known: SourceFrontier) -> RelationFacts:
        return replace(source, version=known.version, commit_id=known.commit_id)

    def old_rows(self, table: TableName, change: SourceChange) -> str:
        return f"{table.sql} version as of {change.old}"

    def recorded_rows(self, table: TableName, change: SourceChange, columns: Sequence[str]) -> str:
        weight = (
            f"1 as {WEIGHT}"
            if change.append_only
            else f"case when _change_type in ('insert', 'update_postimage') then 1 else -1 end as {WEIGHT}"
        )
        feed = f"table_changes({literal(table.sql)}, {change.old + 1}, {change.new})"
        return f"select {', '.join([*columns, weight])}\nfrom {feed}"

    def records_changes(self, source: RelationFacts) -> bool:
        return source.properties.get(CHANGE_FEED, "").lower() == "true"

    def _feed_covers(self, source: RelationFacts, later: Sequence[Commit]) -> bool:
        """Whether the feed was on in every version: it is on now, and no commit could have switched it."""
        switched = any("TBLPROPERTIES" in c.operation and _may_name(c, CHANGE_FEED) for c in later)
        restored = any("REPLACE TABLE" in c.operation or c.operation in ("RESTORE", "CLONE") for c in later)
        return self.records_changes(source) and not switched and not restored

    def identity(self, column: Field) -> str:
        return column.stored_type  # only some engines know ids of columns


DELTA = Delta()


def _goes_on(commits: Sequence[Commit], frontier: SourceFrontier, *, replaced: bool) -> bool:
    """Whether the log contains the commit that the view knows; after a restore from backup it may differ.

    A replaced table must show exactly that commit. For other tables, a commit is accepted if it is missing,
    or if the frontier has neither its id nor its time.
    """
    known = next((commit for commit in commits if commit.version == frontier.version), None)
    if known is None:
        return not replaced
    if are_of_one_kind(known.id, frontier.commit_id):
        return known.id == frontier.commit_id
    if replaced:
        return known.timestamp_ms == frontier.timestamp_ms
    if not frontier.timestamp_ms:
        return True
    return abs(known.timestamp_ms - frontier.timestamp_ms) <= _SAME_COMMIT_MS


def changes_rows(commit: Commit) -> bool:
    """Whether a commit may have changed the rows of its table."""
    return commit.operation not in _WITHOUT_ROWS


def _loses_columns(commit: Commit) -> bool:
    return commit.operation in COLUMNS_GO


def _may_change_schema(commit: Commit) -> bool:
    """Whether a commit may have changed a column's type, or the partition columns, as an overwrite can.

    A refresh overwrites a state without doing so. A commit without operation may have done anything.
    """
    overwrites = commit.operation == "WRITE" and _mode(commit) == "Overwrite"
    of_parts = replaces_a_part(commit) or commit.parameters.get("isDynamicPartitionOverwrite") == "true"
    whole = overwrites and not of_parts and not has_frontier(commit.user_metadata)
    return whole or commit.operation in _CHANGES_TYPES or not commit.operation


def _renames(commit: Commit, frontier: SourceFrontier) -> bool:
    """Whether a column that the view reads was dropped or renamed, so that its name may be another's now.

    Its values changed, but the feed does not list these rows.
    """
    return _loses_columns(commit) and any(_may_name(commit, name) for name in frontier.fields)


def _may_name(commit: Commit, name: str) -> bool:
    """Whether the parameters of a commit name a column or property, or do not say what was changed.

    Delta escapes special characters in them. Other engines may write none at all, or only the id of a query.
    """
    return _NAMING.isdisjoint(commit.parameters) or _letters(name) in _letters(str(dict(commit.parameters)))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).lower()


def _vector_deletes(source: RelationFacts, changing: Sequence[Commit]) -> int:
    if source.properties.get(DELETION_VECTORS, "").lower() != "true":
        return 0
    return sum(c.operation == "DELETE" or replaces_a_part(c) for c in changing)


def _appends(commit: Commit) -> bool:
    """Whether a commit only adds rows."""
    if commit.operation in _APPENDS:
        return _mode(commit) == "Append" or (commit.operation == "COPY INTO" and not _mode(commit))
    if commit.operation == "MERGE":
        gone = [commit.metrics.get(n) for n in ("numTargetRowsUpdated", "numTargetRowsDeleted")]
        return gone == ["0", "0"]
    return False


def _mode(commit: Commit) -> str:
    """How a write treats what is there: Append, Overwrite …; "" if the commit does not say."""
    mode = commit.parameters.get("outputMode") or commit.parameters.get("mode") or ""
    return mode.strip('"')


def replaces_a_part(commit: Commit) -> bool:
    """Whether a commit is INSERT … REPLACE WHERE."""
    return commit.operation == "WRITE" and commit.parameters.get("predicate", "[]") not in ("[]", "true")


def counts(commit: Commit) -> tuple[int | None, int | None, int | None]:
    """How many rows a commit inserted, updated and deleted, as far as it says.

    Rows that an overwrite deleted count as 0.
    """
    count = commit.count
    match commit.operation:
        case "MERGE":
            inserted, updated, deleted = map(count, _MERGE_ROWS)
            return inserted, updated, deleted
        case "UPDATE":
            return 0, count("numUpdatedRows"), 0
        case "DELETE":
            return 0, 0, count("numDeletedRows")
    written, copied = count("numOutputRows"), count("numCopiedRows")
    if replaces_a_part(commit):
        inserted = None if written is None or copied is None else written - copied
        return inserted, 0, count("numDeletedRows")
    return written, 0, 0


def _rows(commit: Commit) -> int | None:
    """The number of rows that a commit changed; None if it does not say."""
    inserted, updated, deleted = counts(commit)
    if inserted is None or updated is None or deleted is None:
        return None
    return inserted + 2 * updated + deleted


def _removes_files(commit: Commit) -> bool:
    """Whether a commit may replace files, so that VACUUM removes them, or its change files, some day."""
    return commit.operation in _REWRITES or (changes_rows(commit) and not _appends(commit))


def _vacuumed_before_ms(commit: Commit) -> int:
    """The time up to which a VACUUM removed what was replaced; 0 for other commits."""
    names = ("specifiedRetentionMillis", "defaultRetentionMillis")
    kept_ms = next(filter(None, map(commit.parameters.get, names)), "")
    if commit.operation != _VACUUM or not kept_ms.isdigit():
        return 0
    return commit.timestamp_ms - int(kept_ms)


def growth(commits: Sequence[Commit]) -> int | None:
    """Inserted minus deleted rows according to the commits; None if one does not say."""
    total = 0
    for commit in commits:
        inserted, _, deleted = counts(commit)
        is_known = commit.operation in _COUNTING or replaces_a_part(commit) or _appends(commit)
        if not is_known or inserted is None or deleted is None:
            return None
        total += inserted - deleted
    return total
