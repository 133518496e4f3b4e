"""What a source keeps for a view that has not read it yet, and for how long; and how many rows a state has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.engine import Commit, Field, RelationFacts, SnapshotTag
from sparkivm.formats.delta import DELTA
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.formats.iceberg import ICEBERG
from sparkivm.formats.iceberg_states import ICEBERG_STATES
from sparkivm.formats.waiting import Waiting, span_ms
from sparkivm.names import TableName

HOUR_MS = 3600 * 1000
DAY_MS = 24 * HOUR_MS
APPEND = {"mode": "Append"}


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("30 days", 30), ("interval 1 week", 7), ("INTERVAL 12 HOURS", 0.5), ("interval '2 days'", 2),
        ("1 day 12 hours", 1.5), ("1 month", None), ("soon", None), ("", None), ("3 days ago", None),
    ],
)  # fmt: skip
def test_spans_of_time(text, days):
    assert span_ms(text) == (None if days is None else days * DAY_MS)


def delta(*commits: tuple[float, str, dict[str, str]], **properties: str) -> tuple[list[str], float | None]:
    """The operations that wait, and the days until their history is gone.

    commits  (day, operation, parameters), from version 2 on; the frontier is at version 1, on day 0
    """
    known = SourceFrontier("s.t", "id", 1, "transaction:a", DAY_MS, {"k": "int"})
    done = [Commit(1, DAY_MS, "WRITE", {}, APPEND, id="transaction:a")]
    done += [
        Commit(n, round((1 + day) * DAY_MS), what, {}, parameters)
        for n, (day, what, parameters) in enumerate(commits, 2)
    ]
    table = RelationFacts(
        TableName("s", "t"),
        "delta",
        (Field("k", "int"),),
        table_id="id",
        version=len(done),
        properties=properties,
    )
    found = DELTA.waiting(table, known, done)
    kept = found.kept_until_ms
    return [commit.operation for commit in found.commits], None if kept is None else kept / DAY_MS - 1


def vacuum(day: float, **said: int) -> tuple[float, str, dict[str, str]]:
    return day, "VACUUM START", {f"{name}RetentionMillis": str(ms) for name, ms in said.items()}


WRITE = (1, "WRITE", APPEND)
UPDATE = (2, "UPDATE", {})


@pytest.mark.parametrize(
    ("commits", "waiting", "days"),
    [
        ((), [], None),
        (((1, "OPTIMIZE", {}), (2, "SET TBLPROPERTIES", {})), [], None),
        ((WRITE,), ["WRITE"], 30),
        ((WRITE, UPDATE), ["WRITE", "UPDATE"], 9),
        ((WRITE, (3, "OPTIMIZE", {})), ["WRITE"], 10),
        ((UPDATE, vacuum(3, default=7 * DAY_MS)), ["UPDATE"], 9),
        ((UPDATE, vacuum(3, specified=0, default=7 * DAY_MS)), ["UPDATE"], 3),
        ((WRITE, vacuum(3, specified=0)), ["WRITE"], 30),
        ((vacuum(1, specified=0), UPDATE), ["UPDATE"], 9),
        ((WRITE, (2, "RENAME COLUMN", {"oldColumnPath": "k"})), ["WRITE", "RENAME COLUMN"], 30),
    ],
)  # fmt: skip
def test_delta_keeps_its_log_and_what_was_replaced(commits, waiting, days):
    assert delta(*commits) == (waiting, days)


def test_delta_keeps_it_as_long_as_the_table_says():
    log, files = "delta.logRetentionDuration", "delta.deletedFileRetentionDuration"
    assert delta(UPDATE, **{log: "interval 2 days"})[1] == 2
    assert delta(UPDATE, **{files: "interval 2 days"})[1] == 4
    assert delta(UPDATE, **{log: "interval 1 month", files: "interval 1 month"})[1] is None, "not understood"


def iceberg(*operations: str, at: int = 1, tags: tuple[SnapshotTag, ...] = (), **properties: str) -> Waiting:
    """The operations made the snapshots from 2 on, a day each; the frontier is at snapshot `at`."""
    numbers = range(1, len(operations) + 2)
    commits = [
        Commit(n, n * DAY_MS, what, {}, {"parent": str(n - 1)}, id=f"snapshot:{n}")
        for n, what in zip(numbers, ("append", *operations), strict=True)
    ]
    newest = len(commits)
    table = RelationFacts(
        TableName("s", "t"), "iceberg", (), table_id="id", version=newest, commit_id=f"snapshot:{newest}:0",
        properties=properties, tags=dict(enumerate(tags)),
    )  # fmt: skip
    known = SourceFrontier("s.t", "id", at, f"snapshot:{at}:0", at * DAY_MS, {})
    return ICEBERG.waiting(table, known, commits)


def test_iceberg_keeps_snapshots_for_some_days():
    assert iceberg() == Waiting()
    found = iceberg("append", "replace", "overwrite")
    assert [commit.operation for commit in found.commits] == ["append", "overwrite"]
    assert found.kept_until_ms == 6 * DAY_MS
    age = {"history.expire.max-snapshot-age-ms": str(DAY_MS)}
    assert iceberg("append", **age).kept_until_ms == 2 * DAY_MS


@pytest.mark.parametrize(("fewest", "until"), [(2, None), (1, 6 * DAY_MS)])
def test_iceberg_keeps_the_newest_snapshots(fewest, until):
    assert iceberg("append", **{"history.expire.min-snapshots-to-keep": str(fewest)}).kept_until_ms == until


@pytest.mark.parametrize(
    ("tags", "until"),
    [
        ((SnapshotTag(1, 15 * DAY_MS),), 15 * DAY_MS),
        ((SnapshotTag(1, 2 * DAY_MS),), 6 * DAY_MS),
        ((SnapshotTag(1, 9 * DAY_MS), SnapshotTag(1, 8 * DAY_MS)), 9 * DAY_MS),
        ((SnapshotTag(1, 9 * DAY_MS), SnapshotTag(1, None)), None),
        ((SnapshotTag(2, 15 * DAY_MS), SnapshotTag(2, None)), 6 * DAY_MS),
    ],
)
def test_tags_keep_the_snapshot_longer(tags, until):
    """Those of `keep_snapshots`, and other people's."""
    assert iceberg("append", tags=tags).kept_until_ms == until


def test_a_table_that_had_no_snapshot_has_nothing_to_keep():
    found = iceberg("append", at=0)
    assert (len(found.commits), found.kept_until_ms) == (2, None)


# rows of a state


def commits(*described: tuple[str, dict[str, str], dict[str, str]]) -> list[Commit]:
    """Newest first."""
    return [Commit(n, 0, what, metrics, said) for n, (what, metrics, said) in enumerate(described)][::-1]


BUILT = ("CREATE OR REPLACE TABLE AS SELECT", {"numOutputRows": "10"}, {})
MERGED = (
    "MERGE",
    {"numTargetRowsInserted": "3", "numTargetRowsDeleted": "1", "numTargetRowsUpdated": "5"},
    {},
)
REPLACED = (
    "WRITE",
    {"numOutputRows": "5", "numCopiedRows": "2", "numDeletedRows": "4"},
    {"mode": "Overwrite", "predicate": '["k = 1"]'},
)


@pytest.mark.parametrize(
    ("described", "rows"),
    [
        ((BUILT,), 10),
        ((BUILT, ("WRITE", {"numOutputRows": "4"}, APPEND), MERGED), 16),
        ((BUILT, MERGED, ("WRITE", {"numOutputRows": "7"}, {"mode": "Overwrite"}), ("OPTIMIZE", {}, {})), 7),
        ((BUILT, REPLACED), 9),
        ((MERGED,), None),
        ((BUILT, ("DELETE", {}, {})), None),
        ((("CREATE TABLE AS SELECT", {}, {}),), None),
    ],
)
def test_rows_of_a_state_in_delta(described, rows):
    assert DELTA_STATES.rows(commits(*described)) == rows


def test_no_more_commits_are_read_than_are_needed():
    newest = commits(("WRITE", {"numOutputRows": "7"}, {"mode": "Overwrite"}))
    rest = iter(commits(BUILT))
    assert DELTA_STATES.rows(commit for part in (newest, rest) for commit in part) == 7
    assert next(rest).operation == BUILT[0]


@pytest.mark.parametrize(
    ("metrics", "rows"),
    [
        ({"total-records": "7", "total-delete-files": "0"}, 7),
        ({"total-records": "7", "total-delete-files": "1"}, None),
    ],
)
def test_rows_of_a_state_in_iceberg(metrics, rows):
    newest = Commit(2, 0, "append", metrics, {})
    assert ICEBERG_STATES.rows([newest, replace(newest, metrics={})]) == rows
    assert ICEBERG_STATES.rows([]) is None
