"""Rows of a change, from the metrics of Delta's history."""

import pytest

from benchmarks.statements import RowCounts, row_counts


@pytest.mark.parametrize(
    ("operation", "metrics", "counts"),
    [
        ("WRITE", {"numOutputRows": "5"}, RowCounts(inserted=5)),
        ("UPDATE", {"numUpdatedRows": "4", "numCopiedRows": "9"}, RowCounts(updated=4)),
        ("DELETE", {"numDeletedRows": "3"}, RowCounts(deleted=3)),
        ("MERGE", {"numTargetRowsInserted": "1", "numTargetRowsUpdated": "2"}, RowCounts(1, 2)),
    ],
)
def test_counts_by_operation(operation, metrics, counts):
    assert row_counts(operation, metrics) == counts


def test_counts_add_up_and_print():
    assert str(RowCounts(1, 2, 3) + RowCounts(1000, 0, 0)) == "+1,001 ~2 -3 rows"
