"""Columns made by SESSION_WINDOW: Spark merges overlapping sessions when it groups by them, even after storing."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.spark.lab import FEED, Lab

pytestmark = [pytest.mark.spark, pytest.mark.slow]

EVENTS = (
    "select id, session_window(at, '5 minutes') as session, "
    "named_struct('start', at, 'end', at + interval 5 minutes) as span from events"
)


@pytest.fixture
def lab(spark) -> Lab:
    lab = Lab(spark, "session_windows")
    lab.table(
        "events",
        "id int, at timestamp",
        "(1, timestamp'2024-01-01 10:00')",
        "(2, timestamp'2024-01-01 10:05')",
    )
    lab.run(
        f"create table stored using delta {FEED} as {EVENTS}", f"create table files using parquet as {EVENTS}"
    )
    return lab


def test_spark_joins_stored_spans(lab):
    """Two touching spans become one group, so such a column cannot identify rows."""
    assert lab.value("select count(*) from (select session from stored group by session)") == 1
    assert lab.value("select count(*) from (select span from stored group by span)") == 2


def test_views_that_read_one_are_full(lab):
    groups = lab.view("groups", "select session, count(*) as n from stored group by session")
    rows = lab.view("sessions", "select id, session from stored")
    mirrored = lab.view("mirrored", "select id from files")
    unread = lab.view("unread", "select span, count(*) as n, max(id) as last from stored group by span")
    for view in (groups, rows):
        assert "session was created by SESSION_WINDOW" in view.refresh().fallback.detail
    mirrored.must_be("create", Reason.TYPE_NOT_SUPPORTED)
    unread.build()
    lab.run(f"insert into stored {EVENTS.replace('id,', 'id + 2 as id,')}", "delete from stored where id = 1")
    for view in (groups, rows):
        view.must_be("full", Reason.TYPE_NOT_SUPPORTED)
    unread.must_be("incremental")
