"""A table's commits from DESCRIBE HISTORY: no more rows than needed, and a stable id for the first commit."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

import pytest
from dbt.adapters.sparkivm.sql_catalog import SqlCatalog

from sparkivm.names import TableName

TABLE = TableName("s", "t")
START = datetime(2024, 1, 1, tzinfo=timezone.utc)


class History:
    """Commits at these milliseconds, reported as Delta does: each later than the commit listed before it."""

    def __init__(self, *times_ms: int, first: int = 0) -> None:
        self.times_ms, self.first, self.asked = list(times_ms), first, []

    def __call__(self, sql):
        limit = int(re.fullmatch(r"describe history `s`.`t` limit (\d+)", sql)[1])
        self.asked.append(limit)
        rows, last = [], -1
        for version, time_ms in list(enumerate(self.times_ms, self.first))[-limit:]:
            last = max(time_ms, last + 1)
            rows.append(
                {
                    "version": version,
                    "timestamp": START + timedelta(milliseconds=last),
                    "operation": "WRITE",
                    "operationMetrics": {"numFiles": "1"},
                    "operationParameters": {},
                    "userMetadata": None,
                }
            )
        return rows[::-1]


def test_the_first_one_has_the_same_id_however_many_follow():
    """All commits are within one millisecond, as in stores whose file times have whole seconds."""
    ids = set()
    for later in range(4):
        first, *rest = SqlCatalog(History(5, 5, *[5] * later)).commits(TABLE, 0)
        assert (first.version, len(rest)) == (1, later)
        ids.add(first.id)
    assert len(ids) == 1


def test_commits_at_other_times_have_other_ids():
    assert (
        SqlCatalog(History(5, 6)).commits(TABLE, 0)[0].id != SqlCatalog(History(5, 7)).commits(TABLE, 0)[0].id
    )


@pytest.mark.parametrize("after", [-1, 0, 2, 3, 4, 9])
def test_those_above_a_version(after):
    history = History(1, 2, 3, 4, 5)
    catalog = SqlCatalog(history)
    for _ in range(2):
        assert [c.version for c in catalog.commits(TABLE, after)] == [*range(after + 1, 5)]
    assert history.asked[-1] == max(1, 4 - after), "no more rows than needed, because the newest is known"


def test_commits_that_come_while_they_are_read():
    history = History(1, 2, 3)
    catalog = SqlCatalog(history)
    catalog.commits(TABLE, 1)
    history.times_ms += [4, 5]
    assert [c.version for c in catalog.commits(TABLE, 1)] == [2, 3, 4]


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        ("UTC", 12),
        ("Europe/Berlin", 11),
        ("America/New_York", 17),
        ("+02:00", 10),
        ("GMT-03:30", 15),
        ("Z", 12),
        ("PST", 12),
    ],
)
def test_times_without_a_zone_are_in_the_sessions(zone, hour):
    """As from a thrift server."""

    def query(sql):
        if sql == "select current_timezone() as zone":
            return [{"zone": zone}]
        row = History(1)(sql)[0]
        return [{**row, "timestamp": datetime(2024, 1, 1, 12)}]

    (commit,) = SqlCatalog(query).commits(TABLE, -1)
    found = datetime.fromtimestamp(commit.timestamp_ms / 1000, timezone.utc)
    assert (found.date(), found.hour) == (START.date(), hour)


def test_times_without_a_zone_from_pyspark_are_in_this_machines():
    def query(sql):
        return [{**History(1)(sql)[0], "timestamp": datetime(2024, 1, 1, 12)}]

    (commit,) = SqlCatalog(query, local_times=True).commits(TABLE, -1)
    assert datetime.fromtimestamp(commit.timestamp_ms / 1000) == datetime(2024, 1, 1, 12)


def test_a_commit_that_does_not_say_what_it_did():
    """A writer may leave commitInfo out: then Delta reports NULL for what it would say."""

    def query(sql):
        nothing = dict.fromkeys(("operation", "operationMetrics", "operationParameters"))
        return [{**row, **nothing} for row in History(1)(sql)]

    (commit,) = SqlCatalog(query).commits(TABLE, -1)
    assert (commit.operation, commit.metrics, commit.parameters) == ("", {}, {})


def test_a_log_that_was_cleaned_up():
    assert [c.version for c in SqlCatalog(History(1, 2, first=7)).commits(TABLE, -1)] == [7, 8]
