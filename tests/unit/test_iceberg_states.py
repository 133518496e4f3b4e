"""States in Iceberg: how a statement is tagged and guarded, and which snapshots led to the current one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import pytest

from sparkivm.changes.frontier import Frontier
from sparkivm.engine import Commit, EngineError, RelationFacts
from sparkivm.formats.iceberg_states import ICEBERG_STATES
from sparkivm.formats.state_format import AS_WE_WRITE, RowCounts, Tag, Write
from sparkivm.names import TableName
from sparkivm.refresh.stored.stored_state import foreign_commit
from sparkivm.spark.data_types import spark_type

TABLE = RelationFacts(TableName("s", "v__ivm"), "iceberg", (), version=3, commit_id="snapshot:33:0")
TAG = Tag('{"nonce": 1}', "1", "sparkivm:s.v", 4, TABLE)


def snapshot(version: int, number: int, parent: int, operation: str = "append", **metrics: str) -> Commit:
    return Commit(version, 0, operation, metrics, {"parent": str(parent)}, id=f"snapshot:{number}")


@pytest.mark.parametrize("macro", ["append_state", "rewrite_state"])
def test_an_insert_is_tagged_and_checked_by_its_options(macro):
    write, settings = ICEBERG_STATES.tagged(Write(macro, {"state": "t"}), TAG)
    assert settings == AS_WE_WRITE
    assert write == Write(
        macro,
        {
            "state": "t",
            "options": {
                "snapshot-property.sparkivm": TAG.metadata,
                "isolation-level": "serializable",
                "validate-from-snapshot-id": "33",
            },
        },
    )


def test_the_first_commit_has_no_snapshot_to_be_checked_against():
    tag = replace(TAG, after=replace(TABLE, commit_id="snapshot:0:0"))
    write, _ = ICEBERG_STATES.tagged(Write("append_state", {}), tag)
    assert "validate-from-snapshot-id" not in write.arguments["options"]


def test_a_merge_fails_if_it_meets_another_snapshot():
    write, settings = ICEBERG_STATES.tagged(Write("merge_state", {"source": "select 1 as a"}), TAG)
    assert settings == {**AS_WE_WRITE, "spark.sql.iceberg.snapshot-property.sparkivm": TAG.metadata}
    assert "`s`.`v__ivm`.`refs` where name = 'main') = 33" in write.arguments["source"]


def test_a_new_table_is_tagged_by_a_setting():
    write = Write("rebuild_state", {"state": "t"})
    assert ICEBERG_STATES.tagged(write, TAG) == (
        write,
        {**AS_WE_WRITE, "spark.sql.iceberg.snapshot-property.sparkivm": TAG.metadata},
    )


def test_snapshots_of_branches_are_not_in_the_line():
    branch, lost = snapshot(2, 99, 11), snapshot(1, 11, 7)
    commits = [lost, branch, snapshot(2, 22, 11), snapshot(3, 33, 22)]
    assert [one.id for one in ICEBERG_STATES.line(TABLE, commits)] == [
        "snapshot:33",
        "snapshot:22",
        "snapshot:11",
    ]


@pytest.mark.parametrize(
    ("former", "parent", "found"),
    [
        ([], 33, ""),
        ([], 22, "2 ROLLBACK"),  # to the commit before the one that was read
        ([], 99, ""),  # expired
        ([snapshot(4, 44, 33, "overwrite")], 44, "4 overwrite"),
        ([snapshot(4, 44, 33, "replace")], 44, ""),  # a compaction
        ([snapshot(4, 44, 22, "replace")], 44, "2 ROLLBACK"),  # the same after a rollback
        ([snapshot(4, 44, 0, "append")], 44, "4 append"),  # the table was replaced
        ([snapshot(4, 44, 33, "append")], 33, ""),  # of a branch, or rolled back
    ],
)
def test_what_came_between_reading_and_committing(former, parent, found):
    """The refresh read version 3, which is snapshot 33, and committed snapshot 77."""
    own = snapshot(5, 77, parent)
    history: Any = History([snapshot(1, 11, 0), snapshot(2, 22, 11), snapshot(3, 33, 22), *former, own])
    frontier = Frontier("p", "m", "s.v", "bag", "text", "", {}, {}, base=3)
    foreign = foreign_commit(history, ICEBERG_STATES, TABLE.name, frontier, own)
    assert (f"{foreign.version} {foreign.operation}" if foreign else "") == found


@dataclass
class History:
    """An engine that knows one table's commits."""

    of_table: list[Commit]

    def commits(self, name: TableName, after: int) -> list[Commit]:
        return [commit for commit in self.of_table if commit.version > after]


@pytest.mark.parametrize(
    ("words", "is_conflict"),
    [
        ("ValidationException: Found conflicting files that can contain records matching true", True),
        ("ValidationException: Found conflicting deleted files that can contain records matching true", True),
        ("ValidationException: Missing required files to delete: s3://b/f.parquet", True),
        ("ValidationException: Cannot commit, missing data files: [s3://b/f.parquet]", True),
        ("ValidationException: Cannot determine history between starting snapshot 1 and the last", True),
        ("[USER_RAISED_EXCEPTION] someone else wrote to the state", True),
        ("org.apache.iceberg.exceptions.CommitFailedException: Version 4 already exists", True),
        ("[DIVIDE_BY_ZERO] Division by zero", False),
    ],
)
def test_conflicts(words, is_conflict):
    assert ICEBERG_STATES.is_conflict(EngineError(words)) is is_conflict


@pytest.mark.parametrize(
    ("metrics", "counts"),
    [
        ({"added-records": "3", "total-records": "9"}, RowCounts(3)),
        ({"added-records": "9", "deleted-records": "5", "total-records": "9"}, RowCounts(9)),
        ({"added-records": "4", "deleted-records": "2", "total-records": "9"}, RowCounts()),
    ],
)
def test_rows_of_files_that_are_written_again_are_not_counted(metrics, counts):
    assert ICEBERG_STATES.row_counts(snapshot(1, 1, 0, **metrics)) == counts


def test_compaction_changes_no_row():
    compaction = snapshot(1, 1, 0, "replace")
    assert ICEBERG_STATES.is_compaction(compaction)
    assert not ICEBERG_STATES.changes_rows(compaction)
    assert ICEBERG_STATES.changes_rows(snapshot(1, 1, 0, "delete"))


@pytest.mark.parametrize(("kept", "hours"), [("30 days", 720), ("1 hour 3600 seconds", 2), ("2 Weeks", 336)])
def test_retention(kept, hours):
    assert ICEBERG_STATES.retention(kept) == {"history.expire.max-snapshot-age-ms": str(hours * 3_600_000)}


@pytest.mark.parametrize(
    ("type", "stored"),
    [
        ("tinyint", "int"),
        ("bigint", "bigint"),
        ("string collate UNICODE_CI", "string"),
        (
            "map<char(3),array<struct<a:smallint,b:decimal(10,2)>>>",
            "map<string,array<struct<a:int,b:decimal(10,2)>>>",
        ),
    ],
)
def test_types_that_come_back_as_others(type, stored):
    assert str(ICEBERG_STATES.stored(spark_type(type))) == stored
    assert ICEBERG_STATES.keeps(spark_type(type)) is (type == stored)


def test_a_table_is_dropped_with_its_files():
    assert ICEBERG_STATES.drop(TABLE.name) == Write(
        "drop_own_table", {"table": "`s`.`v__ivm`", "purge": True}
    )


DAY_MS = 24 * 3600 * 1000


@pytest.mark.parametrize(
    ("retention", "needed", "before"),
    [("", math.inf, 95 * DAY_MS), ("30 days", math.inf, 70 * DAY_MS), ("", 80, 80 * DAY_MS - 60_000)],
)
def test_snapshots_are_kept_for_some_days_and_for_those_who_need_them(retention, needed, before):
    table = replace(TABLE, properties=ICEBERG_STATES.retention(retention) if retention else {})
    expiry = ICEBERG_STATES.expiry(table, 100 * DAY_MS, 5, needed * DAY_MS)
    assert expiry is not None
    assert expiry.before_ms == before


def test_the_time_of_expiry_has_a_zone():
    table = replace(TABLE, name=replace(TABLE.name, catalog="a-b"))
    expiry = ICEBERG_STATES.expiry(table, 0, 0, 1_000_000_000_123)
    assert expiry is not None
    assert expiry.write == Write(
        "expire_snapshots",
        {"table": "`a-b`.`s`.`v__ivm`", "catalog": "`a-b`", "older_than": "1970-01-01 00:00:00.000000 UTC"},
    )
