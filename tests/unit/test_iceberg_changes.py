"""What an Iceberg table's metadata says about its changes since a frontier."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from sparkivm.changes.frontier import SourceFrontier
from sparkivm.engine import Field, RelationFacts, SnapshotTag
from sparkivm.errors import NotIncremental
from sparkivm.formats.iceberg import ICEBERG
from sparkivm.formats.iceberg_metadata import IcebergMetadata, NotReadable
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import TableName
from sparkivm.reasons import Reason

NAME = TableName("shop", "t", "ice")
FIELDS = (Field("id", "int"), Field("x", "double"))
SCHEMA = [{"id": 1, "name": "id", "type": "int", "required": False}, {"id": 2, "name": "x", "type": "double"}]


def snapshot(number: int, parent: int, operation: str = "append", schema: int = 0, **counts: int) -> Any:
    summary = {"total-delete-files": 0, "total-records": 10 * number, "total-files-size": 100, **counts}
    return {
        "snapshot-id": 1000 + number,
        "parent-snapshot-id": 1000 + parent if parent else None,
        "sequence-number": number,
        "timestamp-ms": number,
        "schema-id": schema,
        "summary": {"operation": operation, **{k.replace("_", "-"): str(v) for k, v in summary.items()}},
    }


def table(*snapshots: Any, main: int | None = None, schemas: Any = (SCHEMA,), uuid: str = "u") -> str:
    """The text of a metadata file; `main` is the number of the current snapshot, by default the last one."""
    newest = snapshots[-1]["snapshot-id"] if snapshots else -1
    if main is not None:
        newest = 1000 + main
    return json.dumps(
        {
            "format-version": 2,
            "table-uuid": uuid,
            "current-schema-id": len(schemas) - 1,
            "schemas": [{"schema-id": number, "fields": fields} for number, fields in enumerate(schemas)],
            "properties": {"owner": "me"},
            "current-snapshot-id": newest,
            "refs": {"main": {"snapshot-id": newest, "type": "branch"}} if snapshots else {},
            "snapshots": list(snapshots),
        }
    )


def facts(text: str, fields: tuple[Field, ...] = FIELDS) -> RelationFacts:
    return IcebergMetadata.parse(text).facts(NAME, fields)


def frontier(text: str, *read: str) -> SourceFrontier:
    """The frontier of a view that read some columns of a table."""
    found = facts(text)
    columns = {f.name: ICEBERG.identity(f) for f in found.fields if f.name in (read or ("id", "x"))}
    return SourceFrontier(str(NAME), found.table_id, found.version, found.commit_id, 0, columns)


def change(before: str, after: str, *read: str, fields: tuple[Field, ...] = FIELDS) -> SourceChange:
    known = frontier(before, *read)
    commits = IcebergMetadata.parse(after).commits(known.version - 1)
    return ICEBERG.change(facts(after, fields), known, commits)


def refused(before: str, after: str, *read: str, fields: tuple[Field, ...] = FIELDS) -> Reason:
    with pytest.raises(NotIncremental) as error:
        change(before, after, *read, fields=fields)
    return error.value.fallback.reason


FIRST = snapshot(1, 0, added_records=10)
BEFORE = table(FIRST)


def test_what_is_known_of_a_table():
    found = facts(BEFORE)
    assert (found.kind, found.table_id, found.version, found.commit_id) == (
        "iceberg",
        "u",
        1,
        "snapshot:1001:0",
    )
    assert (found.size_bytes, found.snapshot, found.pinned) == (
        100,
        1001,
        "`ice`.`shop`.`t` version as of 1001",
    )
    assert found.fields[0].mapped_to != found.fields[1].mapped_to


def test_snapshots_that_were_written_in_format_1():
    """They have no sequence number in the metadata of a table that was upgraded to format 2."""
    first, second = ({k: v for k, v in snapshot(n, n - 1).items() if k != "sequence-number"} for n in (1, 2))
    old = table(first, second)
    assert facts(old).version == 0
    assert change(old, table(first, second, snapshot(3, 2, added_records=1))).append_only
    assert change(table(first), old).append_only


def test_tags():
    values = json.loads(table(FIRST, snapshot(2, 1)))
    values["refs"] |= {
        "mine": {"snapshot-id": 1001, "type": "tag", "max-ref-age-ms": 60},
        "theirs": {"snapshot-id": 1002, "type": "tag"},
        "audit": {"snapshot-id": 1001, "type": "branch"},
    }
    assert facts(json.dumps(values)).tags == {
        "mine": SnapshotTag(1001, 61),
        "theirs": SnapshotTag(1002, None),
    }


def test_a_column_named_like_one_of_the_changes():
    """`.changes` has two of this name then, so both versions are compared."""
    schemas = ([*SCHEMA, {"id": 3, "name": "_Change_Type", "type": "string"}],)
    after = table(FIRST, snapshot(2, 1, added_records=3), schemas=schemas)
    fields = (*FIELDS, Field("_Change_Type", "string"))
    assert change(table(FIRST, schemas=schemas), after, fields=fields).how == "diff"
    assert change(BEFORE, table(FIRST, snapshot(2, 1, added_records=3))).how == "feed"


def test_appends():
    after = table(FIRST, snapshot(2, 1, added_records=3), snapshot(3, 2, added_records=4))
    found = change(BEFORE, after)
    assert (found.how, found.old, found.new) == ("feed", 1001, 1003)
    assert (found.rows, found.append_only, found.nets, found.growth) == (7, True, False, 20)
    text = ICEBERG.recorded_rows(NAME, found, ["`id`"])
    assert text.endswith(
        "from `ice`.`shop`.`t`.changes with ('start-snapshot-id' = '1001', 'end-snapshot-id' = '1003')"
    )


def test_rewritten_files_are_netted():
    after = table(FIRST, snapshot(2, 1, "overwrite", added_records=5, deleted_records=6))
    found = change(BEFORE, after)
    assert (found.how, found.rows, found.counted, found.append_only, found.nets) == (
        "feed",
        11,
        False,
        False,
        True,
    )


@pytest.mark.parametrize("at", [1, 2])
def test_delete_files_need_a_comparison(at):
    """Also delete files that existed before the interval."""
    counts: list[dict[str, int]] = [{}, {}]
    counts[at - 1] = {"total_delete_files": 1}
    first = snapshot(1, 0, **counts[0])
    found = change(table(first), table(first, snapshot(2, 1, "overwrite", **counts[1])))
    assert (found.how, found.nets, found.scans) == ("diff", True, 2)


def test_compaction_changes_nothing():
    assert change(BEFORE, table(FIRST, snapshot(2, 1, "replace"), snapshot(3, 2, "replace"))).how == "none"
    after = table(FIRST, snapshot(2, 1, "replace"), snapshot(3, 2, added_records=4))
    found = change(BEFORE, after)
    assert (found.how, found.rows, found.append_only) == ("feed", 4, True)


@pytest.mark.parametrize(
    ("counts", "how"),
    [
        ({"total_data_files": 1}, "none"),
        ({"total_data_files": 1, "added_data_files": 0}, "none"),
        ({}, "feed"),
        ({"total_data_files": 1, "added_data_files": 1}, "feed"),
        ({"total_data_files": 1, "deleted_data_files": 1}, "feed"),
        ({"total_data_files": 1, "added_delete_files": 1}, "feed"),
        ({"total_data_files": 1, "removed_delete_files": 1}, "feed"),
    ],
)
def test_a_commit_of_no_files_changes_nothing(counts, how):
    """If a commit does not say how many files there are, it does not say what it did."""
    assert change(BEFORE, table(FIRST, snapshot(2, 1, "overwrite", **counts))).how == how


def test_unknown_counts_of_delete_files_are_left_to_spark():
    plain = snapshot(2, 1)
    del plain["summary"]["total-delete-files"]
    assert change(BEFORE, table(FIRST, plain)).how == "feed"


@pytest.mark.parametrize(
    "after",
    [
        pytest.param(table(FIRST, snapshot(2, 1), snapshot(3, 1), main=3), id="rolled back, then written"),
        pytest.param(table(FIRST, snapshot(2, 1), snapshot(3, 0)), id="replaced"),
        pytest.param(table(FIRST, snapshot(2, 1), snapshot(4, 3)), id="one in between is expired"),
    ],
)
def test_what_is_no_line_of_parents_is_compared(after):
    found = change(table(FIRST, snapshot(2, 1)), after)
    assert (found.how, found.old) == ("diff", 1002)


def test_rolled_back_to_an_older_snapshot():
    found = change(table(FIRST, snapshot(2, 1)), table(FIRST, snapshot(2, 1), main=1))
    assert (found.how, found.old, found.new) == ("diff", 1002, 1001)


def test_branches_do_not_count():
    branch = snapshot(2, 1)
    assert change(BEFORE, table(FIRST, branch, main=1)).how == "none"
    found = change(BEFORE, table(FIRST, branch, snapshot(3, 1, added_records=2)))
    assert (found.how, found.rows) == ("feed", 2)


def test_an_expired_frontier():
    assert refused(BEFORE, table(snapshot(2, 1))) is Reason.HISTORY_UNAVAILABLE


def test_another_table():
    assert refused(BEFORE, table(FIRST, uuid="other")) is Reason.SOURCE_REPLACED


def test_a_table_to_which_nothing_was_written():
    empty = table()
    assert facts(empty).pinned == "(select * from `ice`.`shop`.`t` where false)"
    assert change(empty, empty).how == "none"
    found = change(empty, table(FIRST))
    assert (found.how, found.old, found.new, found.growth) == ("feed", 0, 1001, 10)
    assert "start-snapshot-id" not in ICEBERG.recorded_rows(NAME, found, ["`id`"])
    assert ICEBERG.old_rows(NAME, found) == facts(empty).pinned
    with_deletes = change(empty, table(snapshot(1, 0, total_delete_files=2)))
    assert (with_deletes.how, with_deletes.old) == ("diff", 0)


def other(*columns: tuple[int, str, str]) -> Any:
    return [{"id": number, "name": name, "type": type_} for number, name, type_ in columns]


def test_a_column_that_went_and_came_back():
    """Its former values are now NULL, and no snapshot shows it."""
    again = table(FIRST, schemas=[SCHEMA, other((1, "id", "int"), (3, "x", "double"))])
    assert refused(BEFORE, again) is Reason.SOURCE_SCHEMA_CHANGED
    assert change(BEFORE, again, "id").how == "none"
    assert facts(again).at != facts(BEFORE).at
    assert facts(again).pinned == (
        "(select cast(`id` as int) as `id`, cast(null as double) as `x`"
        " from `ice`.`shop`.`t` version as of 1001)"
    )


def imported(text: str, *names: tuple[int, list[str]]) -> str:
    """The metadata of a table with files that have no ids; `names` are those of its columns in these files."""
    values = json.loads(text)
    mapping = [{"field-id": number, "names": found} for number, found in names]
    values["properties"]["schema.name-mapping.default"] = json.dumps(mapping)
    return json.dumps(values)


def test_names_of_columns_in_imported_files():
    """Who changes them changes rows, without a snapshot."""
    before = imported(BEFORE, (1, ["id"]), (2, ["y"]))
    after = imported(BEFORE, (1, ["id"]), (2, ["x"]))
    assert facts(before).at != facts(after).at
    assert facts(before).snapshot == facts(after).snapshot == 1001
    assert refused(before, after) is Reason.SOURCE_SCHEMA_CHANGED
    assert change(before, after, "id").how == "none"
    assert change(before, imported(BEFORE, (2, ["y"]), (1, ["id"]))).how == "none"


def test_nested_names_in_imported_files():
    schema = [
        SCHEMA[0],
        {
            "id": 2,
            "name": "x",
            "type": {"type": "struct", "fields": [{"id": 3, "name": "y", "type": "int"}]},
        },
    ]

    def with_name(name: str) -> str:
        text = json.loads(imported(table(FIRST, schemas=[schema])))
        mapping = [{"field-id": 2, "names": ["x"], "fields": [{"field-id": 3, "names": [name]}]}]
        text["properties"]["schema.name-mapping.default"] = json.dumps(mapping)
        return json.dumps(text)

    assert change(with_name("y"), with_name("y")).how == "none"
    assert refused(with_name("y"), with_name("z")) is Reason.SOURCE_SCHEMA_CHANGED


@pytest.mark.parametrize("text", ["id", "1", "[1]", '[{"field-id": 1}]', '[{"field-id": "x", "names": []}]'])
def test_a_property_that_names_no_columns(text):
    values = json.loads(BEFORE)
    values["properties"]["schema.name-mapping.default"] = text
    with pytest.raises(NotReadable, match=r"its property schema\.name-mapping\.default is"):
        facts(json.dumps(values))


def test_a_column_that_imported_files_may_have():
    """It was added after the newest snapshot: no version of the table shows its values."""
    added = table(FIRST, schemas=[SCHEMA[:1], SCHEMA])
    assert "null" in facts(added).pinned
    with pytest.raises(NotReadable, match="x was added after the newest snapshot"):
        facts(imported(added, (1, ["id"]), (2, ["x"])))


def test_names_that_change_places():
    swapped = table(FIRST, schemas=[SCHEMA, other((2, "id", "int"), (1, "x", "double"))])
    assert refused(BEFORE, swapped, "id") is Reason.SOURCE_SCHEMA_CHANGED


def test_a_column_that_was_renamed_before_the_frontier():
    """VERSION AS OF uses the names with which a snapshot was written, so the new names cannot be read from it."""
    renamed = [SCHEMA, other((1, "id", "int"), (2, "y", "double"))]
    fields = (Field("id", "int"), Field("y", "double"))
    before = table(FIRST, schemas=renamed)
    known = replace(
        frontier(BEFORE),
        commit_id=facts(before, fields).commit_id,
        fields={f.name: ICEBERG.identity(f) for f in facts(before, fields).fields},
    )
    after = table(FIRST, snapshot(2, 1, schema=1), schemas=renamed)
    commits = IcebergMetadata.parse(after).commits(0)
    with pytest.raises(NotIncremental, match="altered after snapshot 1001"):
        ICEBERG.change(facts(after, fields), known, commits)
    known = replace(known, fields={"id": known.fields["id"]})
    assert ICEBERG.change(facts(after, fields), known, commits).how == "feed"


def test_other_types():
    wider = table(FIRST, schemas=[SCHEMA, other((1, "id", "long"), (2, "x", "double"))])
    fields = (Field("id", "bigint"), Field("x", "double"))
    assert refused(BEFORE, wider, fields=fields) is Reason.SOURCE_SCHEMA_CHANGED
    assert "cast(`id` as bigint) as `id`" in facts(wider, fields).pinned


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"format-version": 1}),
        table(
            FIRST, schemas=[SCHEMA, [*SCHEMA, {"id": 3, "name": "y", "type": "int", "initial-default": 7}]]
        ),
    ],
    ids=["format 1", "a default that no snapshot has"],
)
def test_what_is_not_read_by_its_snapshots(text):
    fields = (*FIELDS, Field("y", "int")) if "initial-default" in text else FIELDS
    with pytest.raises(NotReadable):
        facts(text, fields)


def test_commits_of_a_long_history_are_those_that_are_asked_for():
    history = table(FIRST, *(snapshot(number, number - 1) for number in range(2, 30)))
    assert [commit.version for commit in IcebergMetadata.parse(history).commits(26)] == [27, 28, 29]
