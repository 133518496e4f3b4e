"""When a source's commits allow reading its changes, and how: from the feed, or by comparing two versions."""

from __future__ import annotations

from typing import Any

import pytest

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.engine import Commit, Field, RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.formats.delta import CHANGE_FEED, DELETION_VECTORS, DELTA
from sparkivm.formats.source_change import SourceChange, conflated
from sparkivm.names import TableName
from sparkivm.reasons import Reason

FRONTIER = SourceFrontier("s.t", "id", 1, "", 10, {"k": "int"})


def changed(
    *commits: Commit,
    new: int,
    table_id: str = "id",
    properties: dict[str, str] | None = None,
    type_: str = "int",
) -> SourceChange:
    """The change of a source whose log has the frontier's commit, version 1, and the given ones."""
    on = {CHANGE_FEED: "true"} if properties is None else properties
    now = RelationFacts(
        TableName("s", "t"),
        "delta",
        (Field("k", type_), Field("x", "double")),
        table_id=table_id,
        version=new,
        properties=on,
    )
    return DELTA.change(now, FRONTIER, [Commit(1, 10, "WRITE", {}, {}), *commits])


def refused(*commits: Commit, **now: Any) -> Reason:
    with pytest.raises(NotIncremental) as raised:
        changed(*commits, **now)
    return raised.value.fallback.reason


def append(version: int, **parameters: str) -> Commit:
    return Commit(version, 20, "WRITE", {"numOutputRows": "1"}, {"mode": "Append", **parameters})


def test_a_version_that_the_log_lacks():
    assert refused(append(2), append(4), new=4) is Reason.HISTORY_UNAVAILABLE
    assert refused(append(2), new=3) is Reason.HISTORY_UNAVAILABLE
    assert changed(append(2), append(3), new=3).how == "feed"


def test_a_table_of_another_identity():
    assert changed(append(2), new=2, table_id="other").how == "diff", "replaced in the same log"
    now = RelationFacts(TableName("s", "t"), "delta", (Field("k", "int"),), table_id="other", version=2)
    with pytest.raises(NotIncremental) as raised:
        DELTA.change(now, FRONTIER, [Commit(1, 11, "WRITE", {}, {}), append(2)])
    assert raised.value.fallback.reason is Reason.SOURCE_REPLACED


def test_a_version_before_the_frontier():
    assert refused(new=0) is Reason.SOURCE_REPLACED


def test_the_same_version_has_no_change():
    assert changed(new=1).how == "none"
    assert changed(Commit(2, 20, "OPTIMIZE", {}, {}), new=2).how == "none"


def test_a_column_of_another_type_or_none():
    assert refused(append(2), new=2, type_="bigint") is Reason.SOURCE_SCHEMA_CHANGED
    gone = RelationFacts(TableName("s", "t"), "delta", (Field("other", "int"),), table_id="id", version=2)
    with pytest.raises(NotIncremental, match="column k no longer exists"):
        DELTA.change(gone, FRONTIER, [append(2)])


@pytest.mark.parametrize(
    "commit",
    [
        Commit(2, 20, "SET TBLPROPERTIES", {}, {"properties": '{"delta.enableChangeDataFeed":"true"}'}),
        Commit(2, 20, "UNSET TBLPROPERTIES", {}, {"properties": '["delta.enableChangeDataFeed"]'}),
        Commit(2, 20, "CREATE OR REPLACE TABLE AS SELECT", {}, {}),
        Commit(2, 20, "RESTORE", {}, {}),
        Commit(2, 20, "CLONE", {}, {}),
    ],
    ids=lambda commit: commit.operation,
)
def test_a_feed_that_may_have_a_gap_is_not_read(commit):
    assert changed(commit, append(3), new=3).how == "diff"


def test_a_feed_that_is_on_is_read():
    other = Commit(2, 20, "SET TBLPROPERTIES", {}, {"properties": '{"comment":"x"}'})
    assert changed(other, append(3), new=3).how == "feed"
    assert changed(append(2), new=2, properties={CHANGE_FEED: "TRUE"}).how == "feed"


@pytest.mark.parametrize("properties", [{}, {CHANGE_FEED: "false"}])
def test_a_feed_that_is_off_is_not_read(properties):
    found = changed(append(2), new=2, properties=properties)
    assert (found.how, found.nets, found.scans, found.append_only) == ("diff", True, 2, False)


@pytest.mark.parametrize(
    ("metrics", "appends"),
    [
        ({"numTargetRowsUpdated": "0", "numTargetRowsDeleted": "0", "numTargetRowsInserted": "2"}, True),
        ({"numTargetRowsUpdated": "1", "numTargetRowsDeleted": "0", "numTargetRowsInserted": "2"}, False),
        ({"numTargetRowsUpdated": "0", "numTargetRowsDeleted": "1", "numTargetRowsInserted": "2"}, False),
        ({"numTargetRowsInserted": "2"}, False),
    ],
)
def test_a_merge_appends_if_it_says_so(metrics, appends):
    found = changed(Commit(2, 20, "MERGE", metrics, {}), new=2)
    assert (found.append_only, found.nets) == (appends, not appends)


def test_changes_may_cancel_unless_rows_only_come_or_only_go():
    delete = Commit(3, 20, "DELETE", {"numDeletedRows": "1"}, {})
    update = Commit(3, 20, "UPDATE", {"numUpdatedRows": "1"}, {})
    assert not changed(append(2), delete, new=3).nets
    assert not changed(append(2), delete, new=3).append_only
    assert changed(append(2), update, new=3).nets


def test_many_deletes_by_vectors_are_compared():
    vectors = {CHANGE_FEED: "true", DELETION_VECTORS: "true"}
    deletes = [Commit(n, 20, "DELETE", {"numDeletedRows": "1"}, {}) for n in range(2, 23)]
    assert changed(*deletes, new=22, properties=vectors).how == "diff"
    few = changed(*deletes[:20], new=21, properties=vectors)
    assert (few.how, few.scans) == ("feed", 20)
    assert changed(*deletes, new=22).how == "feed", "without vectors"


def test_a_column_that_is_renamed_and_read():
    """Another column may have taken its name."""
    rename = Commit(2, 20, "RENAME COLUMN", {}, {"oldColumnPath": "x", "newColumnPath": "K"})
    assert changed(rename, new=2).how == "diff"
    other = Commit(2, 20, "RENAME COLUMN", {}, {"oldColumnPath": "x", "newColumnPath": "y"})
    assert changed(other, new=2).how == "none"


def test_columns_in_which_equal_values_may_differ_are_named():
    assert [field.name for field in changed(append(2), new=2).conflated] == ["x"]
    types = ("array<struct<y:float>>", "decimal(3,1)", "struct<m:map<string,int>>", "string")
    fields = [Field(name, type_) for name, type_ in zip("abcd", types, strict=True)]
    assert [field.name for field in conflated(fields)] == ["a", "c"]
