"""What a source's commits say of its rows."""

from __future__ import annotations

import pytest

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.changes.source_change import CHANGE_FEED, source_change
from sparkivm.engine import Commit, Field, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.names import TableName
from sparkivm.reasons import Reason

FRONTIER = SourceFrontier("s.t", "id", 1, 10, {"k": "int"})


def source(version: int) -> RelationFacts:
    on = {CHANGE_FEED: "true"}
    return RelationFacts(
        TableName("s", "t"), "delta", (Field("k", "int"),), table_id="id", version=version, properties=on
    )


@pytest.mark.parametrize(
    ("operation", "parameters", "appends"),
    [
        ("WRITE", {"mode": "Append"}, True),
        ("WRITE", {"mode": '"Append"'}, True),
        ("WRITE", {"mode": "Overwrite"}, False),
        ("WRITE", {}, False),
        ("STREAMING UPDATE", {"outputMode": "Append"}, True),
        ("STREAMING UPDATE", {"outputMode": "Complete"}, False),
        ("COPY INTO", {}, True),
        ("WRITE BY A WRITER OF TOMORROW", {"mode": "Append"}, False),
    ],
)
def test_which_commits_only_append(operation, parameters, appends):
    commits = [Commit(1, 10, "WRITE", {}, {}), Commit(2, 11, operation, {"numOutputRows": "3"}, parameters)]
    change = source_change(source(2), FRONTIER, commits)
    assert (change.how, change.append_only) == ("feed", appends)


REPLACED = {"numOutputRows": "5", "numCopiedRows": "2", "numDeletedRows": "4"}


@pytest.mark.parametrize(
    ("operation", "metrics", "parameters", "growth"),
    [
        ("WRITE", {"numOutputRows": "3"}, {"mode": "Append"}, 3),
        ("WRITE", {"numOutputRows": "3"}, {"mode": "Overwrite"}, None),
        ("WRITE", REPLACED, {"mode": "Overwrite", "predicate": '["(k = 1)"]'}, -1),
        ("WRITE", {"numOutputRows": "3"}, {"mode": "Overwrite", "predicate": '["(k = 1)"]'}, None),
        ("DELETE", {"numDeletedRows": "3"}, {}, -3),
        ("DELETE", {}, {}, None),
        ("UPDATE", {"numUpdatedRows": "3"}, {}, 0),
    ],
)
def test_how_many_rows_more(operation, metrics, parameters, growth):
    commits = [Commit(1, 10, "WRITE", {}, {}), Commit(2, 11, operation, metrics, parameters)]
    assert source_change(source(2), FRONTIER, commits).growth == growth


@pytest.mark.parametrize(
    ("operation", "metrics", "rows", "counted"),
    [
        ("UPDATE", {"numUpdatedRows": "3"}, 6, True),
        ("UPDATE", {}, 0, False),
        (
            "MERGE",
            {"numTargetRowsInserted": "1", "numTargetRowsDeleted": "2", "numTargetRowsUpdated": "3"},
            9,
            True,
        ),
        ("MERGE", {"numTargetRowsInserted": "1", "numTargetRowsDeleted": "2"}, 0, False),
        ("DELETE", {"numDeletedRows": "3"}, 3, True),
        ("WRITE", {}, 0, False),
    ],
)
def test_how_many_rows_changed(operation, metrics, rows, counted):
    first = Commit(2, 11, "DELETE", {"numDeletedRows": "4"}, {})
    commits = [Commit(1, 10, "WRITE", {}, {}), first, Commit(3, 12, operation, metrics, {})]
    change = source_change(source(3), FRONTIER, commits)
    assert (change.rows, change.counted) == (4 + rows, counted)


@pytest.mark.parametrize("operation", ["DROP COLUMNS", "RENAME COLUMN"])
def test_columns_that_go_need_a_comparison_of_versions(operation):
    """Delta reads a feed by one schema, and refuses if the columns were others in between."""
    commits = [
        Commit(1, 10, "WRITE", {}, {}),
        Commit(2, 11, "WRITE", {}, {"mode": "Append"}),
        Commit(3, 12, operation, {}, {"columns": '["unread"]'}),
    ]
    assert source_change(source(3), FRONTIER, commits).how == "diff"
    commits[1] = Commit(2, 11, "OPTIMIZE", {}, {})
    assert source_change(source(3), FRONTIER, commits).how == "none"


def test_files_put_back_from_a_backup_have_another_history():
    """The same identity and the same versions, written at another time."""
    a_day_later = 10 + 24 * 3600 * 1000
    commits = [Commit(1, a_day_later, "WRITE", {}, {}), Commit(2, a_day_later + 1, "WRITE", {}, {})]
    with pytest.raises(NotIncremental) as raised:
        source_change(source(2), FRONTIER, commits)
    assert raised.value.fallback.reason is Reason.SOURCE_REPLACED
    # The same commit as DESCRIBE HISTORY tells of it, by the time of its file.
    commits = [Commit(1, 10 + 900, "WRITE", {}, {}), Commit(2, 3000, "WRITE", {}, {"mode": "Append"})]
    assert source_change(source(2), FRONTIER, commits).append_only
