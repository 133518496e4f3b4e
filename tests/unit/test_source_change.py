"""What a source's commits say about its rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.frontier import Frontier, SourceFrontier
from sparkivm.engine import Commit, Field, RelationFacts, are_of_one_kind, is_another
from sparkivm.errors import NotIncremental
from sparkivm.formats.delta import CHANGE_FEED, DELTA
from sparkivm.names import TableName
from sparkivm.reasons import Reason

FRONTIER = SourceFrontier("s.t", "id", 1, "", 10, {"k": "int"})
OURS = Frontier("lab", "model.lab.m", "s.m", "bag", "text", "", {}, {}).to_json()


def source(version: int, table_id: str = "id") -> RelationFacts:
    on = {CHANGE_FEED: "true"}
    return RelationFacts(
        TableName("s", "t"), "delta", (Field("k", "int"),), table_id=table_id, version=version, properties=on
    )


def outcome(source: RelationFacts, known: SourceFrontier, commits: list[Commit]) -> str:
    """How the change is read, or why it cannot be read."""
    try:
        return DELTA.change(source, known, commits).how
    except NotIncremental as error:
        return error.fallback.reason.name


@pytest.mark.parametrize(
    ("operation", "parameters", "appends"),
    [
        ("WRITE", {"mode": "Append"}, True),
        ("WRITE", {"mode": '"Append"'}, True),
        ("WRITE", {"mode": "Overwrite", "predicate": '["(k = 1)"]'}, False),
        ("WRITE", {}, False),
        ("STREAMING UPDATE", {"outputMode": "Append"}, True),
        ("STREAMING UPDATE", {"outputMode": "Complete"}, False),
        ("COPY INTO", {}, True),
        ("WRITE BY A WRITER OF TOMORROW", {"mode": "Append"}, False),
    ],
)
def test_which_commits_only_append(operation, parameters, appends):
    commits = [Commit(1, 10, "WRITE", {}, {}), Commit(2, 11, operation, {"numOutputRows": "3"}, parameters)]
    change = DELTA.change(source(2), FRONTIER, commits)
    assert (change.how, change.append_only) == ("feed", appends)


WHOLE = {"mode": "Overwrite", "partitionBy": "[]"}


@pytest.mark.parametrize(
    ("operation", "parameters", "metadata", "how"),
    [
        ("WRITE", WHOLE, None, "diff"),
        ("WRITE", WHOLE, "of somebody else", "diff"),
        ("WRITE", {**WHOLE, "canOverwriteSchema": "true"}, None, "diff"),
        ("WRITE", {**WHOLE, "isDynamicPartitionOverwrite": "true"}, None, "feed"),
        ("WRITE", {**WHOLE, "predicate": '["(k = 1)"]'}, None, "feed"),
        ("WRITE", WHOLE, OURS, "feed"),
        ("WRITE", {"mode": "Append"}, None, "feed"),
    ],
)
def test_an_overwrite_may_change_the_partition_columns(operation, parameters, metadata, how):
    """Delta's feed then shows NULL for a column by which rows were not partitioned before."""
    commits = [
        Commit(1, 10, "WRITE", {}, {}),
        Commit(2, 11, operation, {"numOutputRows": "3"}, parameters, user_metadata=metadata),
    ]
    assert outcome(source(2), FRONTIER, commits) == how


def test_a_commit_without_operation_may_have_done_anything():
    """The feed may lack its changes, or have other columns than before it."""
    commits = [Commit(1, 10, "WRITE", {}, {}), Commit(2, 11, "", {}, {})]
    change = DELTA.change(source(2), FRONTIER, commits)
    assert (change.how, change.counted, change.append_only) == ("diff", False, False)


@pytest.mark.parametrize("operation", ["CHANGE COLUMN", "CHANGE COLUMNS"])
def test_a_type_that_is_widened_after_a_write(operation):
    """Delta refuses to read such a feed."""
    commits = [
        Commit(1, 10, "WRITE", {}, {}),
        Commit(2, 11, "WRITE", {"numOutputRows": "3"}, {"mode": "Append"}),
        Commit(3, 12, operation, {}, {"column": "{}"}),
    ]
    assert outcome(source(3), FRONTIER, commits) == "diff"


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
    assert DELTA.change(source(2), FRONTIER, commits).growth == growth


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
    change = DELTA.change(source(3), FRONTIER, commits)
    assert (change.rows, change.counted) == (4 + rows, counted)


@pytest.mark.parametrize("operation", ["DROP COLUMNS", "RENAME COLUMN"])
def test_columns_that_go_need_a_comparison_of_versions(operation):
    """Delta reads a feed with one schema, and refuses if the columns differed in between."""
    commits = [
        Commit(1, 10, "WRITE", {}, {}),
        Commit(2, 11, "WRITE", {}, {"mode": "Append"}),
        Commit(3, 12, operation, {}, {"columns": '["unread"]'}),
    ]
    assert DELTA.change(source(3), FRONTIER, commits).how == "diff"
    commits[1] = Commit(2, 11, "OPTIMIZE", {}, {})
    assert DELTA.change(source(3), FRONTIER, commits).how == "none"


@pytest.mark.parametrize(
    ("parameters", "read"),
    [
        ({"columns": '["k"]'}, "k"),
        ({"queryId": "20260101"}, "k"),  # Trino says no more
        ({"columns": '["a\\"b"]'}, 'a"b'),  # as Delta escapes it
        ({"oldColumnPath": "`a``b`", "newColumnPath": "c"}, "a`b"),
        ({"oldColumnPath": "`c`", "newColumnPath": "Größe"}, "größe"),
        ({"columns": '["?"]'}, "!"),  # nothing in it to compare
    ],
)
@pytest.mark.parametrize("operation", ["DROP COLUMNS", "RENAME COLUMN"])
def test_a_column_that_is_read_may_be_gone(operation, parameters, read):
    known = replace(FRONTIER, fields={read: "int"})
    table = replace(source(2), fields=(Field(read, "int"),))
    commits = [Commit(1, 10, "WRITE", {}, {}), Commit(2, 11, operation, {}, parameters)]
    assert DELTA.change(table, known, commits).how == "diff"
    other = Commit(2, 11, operation, {}, {"columns": '["unread"]'})
    if read != "!":
        assert DELTA.change(table, known, [commits[0], other]).how == "none"


@pytest.mark.parametrize(
    ("parameters", "how"),
    [
        ({"properties": '{"mine":"x"}'}, "feed"),
        ({"properties": '{"delta.enableChangeDataFeed":"true"}'}, "diff"),
        ({"properties": '{"delta.enablechangedatafeed":"true"}'}, "diff"),
        ({"properties": '["delta.enableChangeDataFeed"]', "ifExists": "true"}, "diff"),
        ({"queryId": "20260101"}, "diff"),  # Trino says no more
        (
            {"properties": '{"a":"b', "delta.enableChangeDataFeed": 'true"}'},
            "diff",
        ),  # by SQL, split at a comma
    ],
)
def test_the_feed_may_have_been_off_in_between(parameters, how):
    commits = [
        Commit(1, 10, "WRITE", {}, {}),
        Commit(2, 11, "SET TBLPROPERTIES", {}, parameters),
        Commit(3, 12, "WRITE", {}, {"mode": "Append"}),
    ]
    assert DELTA.change(source(3), FRONTIER, commits).how == how


def test_files_put_back_from_a_backup_have_another_history():
    """The same identity and versions, written at another time."""
    a_day_later = 10 + 24 * 3600 * 1000
    commits = [Commit(1, a_day_later, "WRITE", {}, {}), Commit(2, a_day_later + 1, "WRITE", {}, {})]
    with pytest.raises(NotIncremental) as raised:
        DELTA.change(source(2), FRONTIER, commits)
    assert raised.value.fallback.reason is Reason.SOURCE_REPLACED
    # The same commit as DESCRIBE HISTORY reports it, with the time of its file.
    commits = [Commit(1, 10 + 900, "WRITE", {}, {}), Commit(2, 3000, "WRITE", {}, {"mode": "Append"})]
    assert DELTA.change(source(2), FRONTIER, commits).append_only


DAY_MS = 24 * 3600 * 1000


@pytest.mark.parametrize(
    ("known", "found", "later_ms", "outcome_"),
    [
        ("transaction:a", "transaction:a", 0, "same"),
        ("transaction:a", "transaction:a", DAY_MS, "same"),  # copied, with another time
        ("transaction:a", "transaction:b", 0, "SOURCE_REPLACED"),  # in the same millisecond
        ("history:a", "history:b", 0, "SOURCE_REPLACED"),
        ("log:a", "log:a", 0, "same"),
        # Ids of different kinds, or no id: only the approximate time can be compared.
        ("transaction:a", "history:a", 900, "same"),
        ("transaction:a", "history:b", DAY_MS, "SOURCE_REPLACED"),
        ("", "transaction:b", 900, "same"),
        ("", "", DAY_MS, "SOURCE_REPLACED"),
    ],
)
@pytest.mark.parametrize("newer", [False, True])
def test_the_commit_that_the_view_knows_has_to_be_there(known, found, later_ms, outcome_, newer):
    commits = [
        Commit(1, 10 + later_ms, "WRITE", {}, {}, id=found),
        Commit(2, 11 + later_ms, "WRITE", {}, {"mode": "Append"}, id="transaction:2"),
    ]
    here = outcome(source(2 if newer else 1), replace(FRONTIER, commit_id=known), commits[: 1 + newer])
    assert here == ({False: "none", True: "feed"}[newer] if outcome_ == "same" else outcome_)


def test_a_source_with_fewer_versions_was_put_back():
    commits = [Commit(0, 1, "WRITE", {}, {})]
    assert outcome(source(0), FRONTIER, commits) == "SOURCE_REPLACED"


@pytest.mark.parametrize("versions", [[2, 3], [1, 3], [3], []])
def test_each_commit_from_the_known_one_on_has_to_be_there(versions):
    """Without the known commit, we cannot know that the later ones follow it."""
    known = replace(FRONTIER, commit_id="transaction:1")
    commits = [Commit(v, 9 + v, "WRITE", {}, {"mode": "Append"}, id=f"transaction:{v}") for v in versions]
    assert outcome(source(3), known, commits) == "HISTORY_UNAVAILABLE"


@pytest.mark.parametrize(
    ("known", "found", "later_ms", "outcome_"),
    [
        ("transaction:a", "transaction:a", 0, "diff"),
        ("transaction:a", "transaction:b", 0, "SOURCE_REPLACED"),
        ("transaction:a", "history:a", 0, "diff"),
        ("transaction:a", "history:a", 1, "SOURCE_REPLACED"),
    ],
)
def test_a_table_replaced_in_place_goes_on_in_the_same_log(known, found, later_ms, outcome_):
    commits = [
        Commit(1, 10 + later_ms, "WRITE", {}, {}, id=found),
        Commit(2, 99, "CREATE OR REPLACE TABLE AS SELECT", {}, {}),
    ]
    assert outcome(source(2, "another"), replace(FRONTIER, commit_id=known), commits) == outcome_
    assert outcome(source(2, "another"), replace(FRONTIER, commit_id=known), commits[1:]) == "SOURCE_REPLACED"


@pytest.mark.parametrize(
    ("one", "other", "of_one_kind", "another"),
    [
        ("a:1", "a:1", True, False),
        ("a:1", "a:2", True, True),
        ("a:1", "b:1", False, False),
        ("", "a:1", False, False),
        ("", "", False, False),
    ],
)
def test_ids_of_commits(one, other, of_one_kind, another):
    assert (are_of_one_kind(one, other), is_another(one, other)) == (of_one_kind, another)
