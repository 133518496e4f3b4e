"""States in Delta: how a table is created, how a commit is tagged, what the log says about it."""

from __future__ import annotations

import pytest

from sparkivm.engine import Commit, EngineError, RelationFacts
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.formats.state_format import RowCounts, Write
from sparkivm.names import TableName

TABLE = TableName("s", "t")
FEED = {"delta.enableChangeDataFeed": "true"}
NO_FEED = {"delta.enableChangeDataFeed": "false"}
VECTORS = "delta.enableDeletionVectors"
MAPPED = {"delta.columnMapping.mode": "name"}
DEFAULTS = {"delta.feature.allowColumnDefaults": "supported"}


class Delta:
    """Refuses with these conditions, one after the other; records what it receives."""

    def __init__(self, *conditions: str) -> None:
        self.conditions, self.given, self.fed = list(conditions), [], False

    def make(self, properties):
        self.given.append(dict(properties))
        if self.conditions:
            raise EngineError("refused", self.conditions.pop(0))
        return "made"

    def run(self, write):
        assert write == Write("enable_change_capture", {"table": "`s`.`t`"})
        self.fed = True


@pytest.mark.parametrize(
    ("properties", "conditions", "given", "fed"),
    [
        (FEED, (), FEED, False),
        (FEED | MAPPED, (), NO_FEED | MAPPED, True),
        (FEED | {"delta.columnmapping.mode": "id"}, (), NO_FEED | {"delta.columnmapping.mode": "id"}, True),
        (FEED | {"delta.columnMapping.mode": "none"}, (), FEED | {"delta.columnMapping.mode": "none"}, False),
        (NO_FEED | MAPPED, (), NO_FEED | MAPPED, False),
        (FEED, ("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",), NO_FEED | MAPPED, True),
        (FEED, ("DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION",), FEED | {"delta.columnMapping.mode": "none"}, False),
        (FEED, ("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",), FEED | DEFAULTS, False),
        (
            FEED,
            ("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED", "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"),
            NO_FEED | MAPPED | DEFAULTS,
            True,
        ),
    ],
)  # fmt: skip
def test_properties_that_it_is_made_with(properties, conditions, given, fed):
    delta = Delta(*conditions)
    assert DELTA_STATES.make(TABLE, properties, delta.make, delta.run) == "made"
    assert (delta.given[-1], delta.fed) == (given, fed)
    assert len(delta.given) == len(conditions) + 1


@pytest.mark.parametrize("conditions", [("OTHER",), ("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",) * 2])
def test_what_delta_refuses_for_good(conditions):
    delta = Delta(*conditions)
    with pytest.raises(EngineError):
        DELTA_STATES.make(TABLE, FEED, delta.make, delta.run)
    assert len(delta.given) == len(conditions)
    assert not delta.fed


@pytest.mark.parametrize(
    ("operation", "metrics", "parameters", "counts"),
    [
        ("CREATE OR REPLACE TABLE AS SELECT", {"numOutputRows": "3"}, {}, RowCounts(3)),
        ("WRITE", {"numOutputRows": "3"}, {"mode": "Append", "predicate": "[]"}, RowCounts(3)),
        ("WRITE", {"numOutputRows": "3"}, {"mode": "Overwrite", "predicate": "true"}, RowCounts(3)),
        (
            "WRITE",
            {"numOutputRows": "7", "numCopiedRows": "4", "numDeletedRows": "2"},
            {"predicate": '["(k = 1)"]'},
            RowCounts(3, deleted=2),
        ),
        ("WRITE", {"numDeletedRows": "2"}, {"predicate": '["(k = 1)"]'}, RowCounts(None, deleted=2)),
        (
            "MERGE",
            {"numTargetRowsInserted": "1", "numTargetRowsUpdated": "2", "numTargetRowsDeleted": "3", "numOutputRows": "9"},
            {},
            RowCounts(1, 2, 3),
        ),
        ("WRITE", {}, {}, RowCounts()),
    ],
)  # fmt: skip
def test_rows_that_a_commit_wrote(operation, metrics, parameters, counts):
    assert DELTA_STATES.row_counts(Commit(1, 1, operation, metrics, parameters)) == counts


@pytest.mark.parametrize(("properties", "own"), [({}, {}), ({VECTORS: "true"}, {}), ({}, {VECTORS: "false"})])
def test_rows_are_marked_as_deleted_unless_somebody_decided(properties, own):
    facts = RelationFacts(TABLE, "delta", (), properties=properties)
    write = DELTA_STATES.before_change(facts, own)
    assert (write is None) == bool(properties or own)
    assert write is None or write.macro == "enable_deletion_vectors"


@pytest.mark.parametrize(
    ("operation", "alters"),
    [
        ("RENAME COLUMN", True), ("DROP COLUMNS", True), ("ADD COLUMNS", True), ("REPLACE COLUMNS", True),
        ("CHANGE COLUMN", False), ("CHANGE COLUMNS", False), ("OPTIMIZE", False), ("SET TBLPROPERTIES", False),
    ],
)  # fmt: skip
def test_commits_after_which_a_name_may_be_another_column(operation, alters):
    assert DELTA_STATES.changes_columns(Commit(1, 1, operation, {}, {})) == alters
