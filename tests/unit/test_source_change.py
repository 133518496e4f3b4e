"""What a source's commits say of its rows."""

from __future__ import annotations

import pytest

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.changes.source_change import CHANGE_FEED, source_change
from sparkivm.engine import Commit, Field, RelationFacts
from sparkivm.names import TableName

FRONTIER = SourceFrontier("s.t", "id", 1, 10, {"k": "int"})


def change_by(operation: str, **parameters: str):
    facts = RelationFacts(
        TableName("s", "t"),
        "delta",
        (Field("k", "int"),),
        table_id="id",
        version=2,
        properties={CHANGE_FEED: "true"},
    )
    commits = [Commit(1, 10, "WRITE", {}, {}), Commit(2, 11, operation, {"numOutputRows": "3"}, parameters)]
    return source_change(facts, FRONTIER, commits)


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
    change = change_by(operation, **parameters)
    assert (change.how, change.append_only) == ("feed", appends)


@pytest.mark.parametrize("operation", ["DROP COLUMNS", "RENAME COLUMN"])
def test_columns_that_go_need_a_comparison_of_versions(operation):
    """Delta reads a feed by one schema, and refuses if the columns were others in between."""
    facts = RelationFacts(
        TableName("s", "t"),
        "delta",
        (Field("k", "int"),),
        table_id="id",
        version=3,
        properties={CHANGE_FEED: "true"},
    )
    commits = [
        Commit(1, 10, "WRITE", {}, {}),
        Commit(2, 11, "WRITE", {}, {"mode": "Append"}),
        Commit(3, 12, operation, {}, {"columns": '["unread"]'}),
    ]
    assert source_change(facts, FRONTIER, commits).how == "diff"
    assert (
        source_change(facts, FRONTIER, [commits[0], Commit(2, 11, "OPTIMIZE", {}, {}), commits[2]]).how
        == "none"
    )
