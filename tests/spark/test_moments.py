"""Views that read the date or the time: rows enter and leave as time passes."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from sparkivm.refresh.operations.consistency import consistency_sql
from sparkivm.refresh.sources.pins import Pins
from tests.spark.lab import Lab, View, side_by_side

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_START = datetime(2024, 3, 10, 12, tzinfo=timezone.utc)

BY_DATE = {
    "recent": "select id, d from events where d >= current_date() - interval 7 days",
    "overdue": "select id, datediff(current_date, d) as days from events where d < current_date",
    "per_kind": "select kind, count(*) as n, sum(amount) as s, count_if(d = current_date()) as today from events "
    "where d > date_sub(current_date(), 5) group by kind",
    "ages": "select datediff(curdate(), d) div 3 as age, max(amount) as m from events group by datediff(curdate(), d) div 3",
    "due_groups": "select kind, max(d) as last from events group by kind having max(d) < current_date() - interval 2 days",
    "joined": "select k.kind, e.id from kinds as k left join events as e on e.kind = k.kind and e.d = current_date() - k.back",
    "found": "select kind from kinds as k where not exists (select 1 from events as e where e.kind = k.kind "
    "and e.d >= current_date() - k.back)",
    "stamped": "select kind, current_date() as on_day from kinds",
    "days": "select explode(sequence(date'2024-03-07', current_date())) as day",
}
BY_TIME = {
    "last_day": "select id from events where at > now() - interval 1 day",
    "ahead": "select kind, count(*) as n from events where at > current_timestamp() group by kind",
    "local": "select id from events where cast(at as timestamp_ntz) < localtimestamp()",
    "no_from": "select now() as at",
}


@pytest.mark.parametrize(
    "names",
    [
        ("per_kind", "due_groups", "joined", "found", "last_day", "ahead"),
        pytest.param((*BY_DATE, *BY_TIME), marks=pytest.mark.nightly),
    ],
    ids=["some", "all"],
)
def test_rows_enter_and_leave_as_time_goes_on(either_spark, names):
    lab = Lab(either_spark, "moments")
    days = (
        f"({i}, '{'abc'[i % 3]}', date'2024-03-01' + {i}, timestamp'2024-03-01 06:00:00Z' + interval {i} day, {i})"
        for i in range(20)
    )
    lab.table(
        "events",
        "id int, kind string, d date, at timestamp, amount decimal(10,2)",
        *days,
        "(99, null, null, null, null)",
    )
    lab.table("kinds", "kind string, back int", "('a', 1)", "('b', 3)", "('x', 0)")
    by_date, by_time = (
        [lab.view(name, sql, refresh_mode="strict") for name, sql in queries.items() if name in names]
        for queries in (BY_DATE, BY_TIME)
    )
    views = [*by_date, *by_time]
    assert modes(views, _START) == ["create"] * len(views)
    an_hour_later = modes(views, _START + timedelta(hours=1))
    assert an_hour_later == ["no_op"] * len(by_date) + ["incremental"] * len(by_time)
    next_day = _START + timedelta(days=1)
    assert modes(views, next_day) == ["incremental"] * len(views)
    lab.run(
        "delete from events where id in (9, 12)",
        "insert into events values (30, 'x', date'2024-03-12', now(), 1)",
    )
    lab.run("update events set d = d + 1 where id % 4 = 0", "update kinds set back = 2 where kind = 'a'")
    assert modes(views, next_day + timedelta(days=3)) == ["incremental"] * len(views)
    assert not any(side_by_side(lab, views, View.state_differences))


def modes(views: list[View], at: datetime) -> list[str]:
    """Refresh all views at one time, and compare each with its query at that time."""
    pins = Pins()
    pins.instant(lambda: int(at.timestamp()) * 10**6)

    def mode(view: View) -> str:
        result = view.refresh(pins)
        engine = view.lab.engine
        if result.mode != "no_op":
            assert not engine.query(consistency_sql(engine, view.request)), view.name
        return result.mode

    return side_by_side(views[0].lab, views, mode)
