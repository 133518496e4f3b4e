"""States and mirrors in Delta tables.

source  Delta 4.4 accepts names with blanks and signs only with column mapping, and a column that has a
        DEFAULT in its source only with a table feature. No statement creates a table with both column
        mapping and a change data feed (DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION), so a second statement
        switches the feed on. Spark writes an empty text as the partition value NULL
        (ExternalCatalogUtils.getPartitionValueString).
tested  tests/unit/test_delta_states.py, tests/refresh/test_partition_values.py, tests/spark/test_protocol.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from sparkivm.engine import Commit, EngineError, RelationFacts
from sparkivm.formats.delta import (
    CHANGE_FEED,
    COLUMNS_GO,
    DELETION_VECTORS,
    changes_rows,
    counts,
    growth,
    replaces_a_part,
)
from sparkivm.formats.state_format import (
    AS_WE_WRITE,
    Done,
    Expiry,
    RowCounts,
    StateFormat,
    Tag,
    Write,
)
from sparkivm.names import OF_FEEDS, TableName, literal, quoted
from sparkivm.spark.data_types import SparkType, spark_type

_COLUMN_MAPPING = "delta.columnMapping.mode"
_RETENTION = ("delta.logRetentionDuration", "delta.deletedFileRetentionDuration")
# Properties with which Delta accepts a table, by the condition of its refusal.
_NEEDED = {
    "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES": {_COLUMN_MAPPING: "name"},
    "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED": {"delta.feature.allowColumnDefaults": "supported"},
    # Only if the mapping is a default of the session.
    "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION": {_COLUMN_MAPPING: "none"},
}
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_APPLICATION = "spark.databricks.delta.write.txnAppId"
_NUMBER = "spark.databricks.delta.write.txnVersion"
_CONFLICTS = ("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")
# Other changes are visible in the columns' names and types.
_COLUMNS_CHANGE = COLUMNS_GO | {"ADD COLUMNS"}
_TEXTS = ("string", "varchar", "char", "binary")


class DeltaStates(StateFormat):
    """The tag's JSON is a commit's user metadata; its number is Delta's transaction number."""

    provider = "delta"
    replaces_parts = True
    clusters = True
    reserved = OF_FEEDS
    not_in = ()
    commits_as_described = False
    versions_are_a_line = True

    def stored(self, type: SparkType) -> SparkType:
        return type

    def properties(self, *, marks_deleted: bool = False) -> Mapping[str, str]:
        return {CHANGE_FEED: "true", **({DELETION_VECTORS: "true"} if marks_deleted else {})}

    def retention(self, kept: str) -> Mapping[str, str]:
        return dict.fromkeys(_RETENTION, f"interval {kept}")

    def partition_value(self, name: str, type_: str) -> str:
        """Delta would store an empty text as NULL, a different value."""
        if type_ and spark_type(type_).word not in _TEXTS:
            return ""
        said = (
            f"The state is partitioned by {name}, and Delta stores an empty string there as NULL. Remove it "
            f"from partition_by, or let the model return nullif({name}, '')."
        )
        column = quoted(name)
        return f"if(length({column}) = 0, raise_error({literal(said)}), {column})"

    def make(
        self,
        table: TableName,
        properties: Mapping[str, str],
        make: Callable[[Mapping[str, str]], Done],
        run: Callable[[Write], object],
    ) -> Done:
        wanted = dict(properties)
        while True:
            # Not left out: the session may have a default.
            at_once = {**wanted, CHANGE_FEED: "false"} if _maps_columns(wanted) else wanted
            try:
                done = make(at_once)
            except EngineError as error:
                needed = _NEEDED.get(error.condition, {})
                if needed.items() <= wanted.items():
                    raise
                wanted |= needed
            else:
                if wanted.get(CHANGE_FEED, "").lower() == "true" and at_once != wanted:
                    run(Write("enable_change_capture", {"table": table.sql}))
                return done

    def clone(
        self, table: TableName, origin: RelationFacts, properties: Mapping[str, str], location: str | None
    ) -> Write | None:
        arguments = {
            "state": table.sql,
            "origin": origin.name.sql,
            "version": origin.version,
            "tblproperties": properties,
            "location": location,
        }
        return Write("clone_state", arguments)

    def drop(self, table: TableName) -> Write:
        return Write("drop_own_table", {"table": table.sql})

    def expiry(self, table: RelationFacts, now_ms: int, days: float, needed_ms: float) -> Expiry | None:
        """Delta cleans up its log itself, and VACUUM removes files."""
        return None

    def before_change(self, table: RelationFacts, own: Mapping[str, str]) -> Write | None:
        """Switch on deletion vectors. A small state has none, because its readers would look for them."""
        if DELETION_VECTORS in {**table.properties, **own}:
            return None
        return Write("enable_deletion_vectors", {"table": table.name.sql})

    def unchanged(self, table: TableName, columns: Sequence[str], properties: Mapping[str, str]) -> Write:
        return Write("mark_relation", {"kind": "table", "relation": table.sql, "tblproperties": properties})

    def tagged(self, write: Write, tag: Tag) -> tuple[Write, Mapping[str, str]]:
        # If these settings stayed, they would also tag the next ALTER: a frontier without its data.
        return write, {
            **AS_WE_WRITE,
            _METADATA: tag.metadata,
            _APPLICATION: tag.application,
            _NUMBER: str(tag.number),
        }

    def is_conflict(self, error: EngineError) -> bool:
        return error.condition.startswith(_CONFLICTS) or any(f"[{word}" in str(error) for word in _CONFLICTS)

    def line(self, table: RelationFacts, commits: Sequence[Commit]) -> Iterator[Commit]:
        return _down_from(table.version, commits)

    def before(self, commit: Commit, commits: Sequence[Commit]) -> Iterator[Commit]:
        return _down_from(commit.version - 1, commits)

    def changes_rows(self, commit: Commit) -> bool:
        return changes_rows(commit)

    def must_be_dropped(self, error: EngineError) -> bool:
        return False  # the catalog does not know the columns

    def changes_columns(self, commit: Commit) -> bool:
        return commit.operation in _COLUMNS_CHANGE

    def column_ids(self, commit: Commit) -> Mapping[str, str]:
        return {}  # an ALTER is a commit

    def is_compaction(self, commit: Commit) -> bool:
        return commit.operation == "OPTIMIZE"  # auto compaction repeats the metadata of the previous commit

    def row_counts(self, commit: Commit) -> RowCounts:
        count = commit.count
        if commit.operation == "MERGE":
            return RowCounts(*counts(commit))
        written = count("numOutputRows")
        if not replaces_a_part(commit):
            return RowCounts(written)
        copied = count("numCopiedRows") or 0
        return RowCounts(None if written is None else written - copied, deleted=count("numDeletedRows"))

    def rows(self, commits: Iterable[Commit]) -> int | None:
        """What the last commit wrote that replaced all rows, and what the later ones added."""
        total = 0
        for commit in commits:
            if not changes_rows(commit):
                continue
            whole = _replaces_all(commit)
            more = commit.count("numOutputRows") if whole else growth([commit])
            if more is None:
                return None
            total += more
            if whole:
                return total
        return None


DELTA_STATES = DeltaStates()


def _replaces_all(commit: Commit) -> bool:
    if commit.operation.endswith("TABLE AS SELECT"):
        return True
    mode = commit.parameters.get("mode", "").strip('"')
    return commit.operation == "WRITE" and mode == "Overwrite" and not replaces_a_part(commit)


def _maps_columns(properties: Mapping[str, str]) -> bool:
    modes = [mode for name, mode in properties.items() if name.lower() == _COLUMN_MAPPING.lower()]
    return any(mode.lower() != "none" for mode in modes)


def _down_from(version: int, commits: Sequence[Commit]) -> Iterator[Commit]:
    by_version = {commit.version: commit for commit in commits}
    while version in by_version:
        yield by_version[version]
        version -= 1
