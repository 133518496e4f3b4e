"""Views that read the date or the time: the no-op check, one instant per run, rows that enter and leave."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.sources.pins import Pins
from tests.refresh.lab import Lab, View

DAY_MS = 24 * 3600 * 1000
TODAY = "select id, d from e where d >= current_date()"
PER_DAY = (
    "select kind, count(*) as n, sum(id) as s from e where d > date_sub(current_date(), 2) group by kind"
)


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.lake.ahead_ms = 1_704_100_000_000 - lab.lake.clock_ms  # 1 January 2024, before noon
    days = (f"({n}, date'2024-01-0{n}', '{'ab'[n % 2]}')" for n in range(1, 8))
    lab.table("e", "id int, d date, kind string", *days)
    return lab


def a_day_later(view: View) -> None:
    view.lab.lake.ahead_ms += DAY_MS


@pytest.mark.parametrize(
    "sql",
    [
        TODAY,
        PER_DAY,
        "select kind, current_date() as d from e",
        "select max(d) as d from e where d <= current_date()",
    ],
)
def test_a_view_follows_the_date(lab, sql):
    view = lab.view("v", sql, refresh_mode="strict").build()
    for _ in range(3):
        assert view.must_be("no_op").statements == ()
        a_day_later(view)
        assert view.must_be("incremental").explanation.startswith("the current time changed, 0 changed rows")


def test_rows_and_the_date_change_together(lab):
    views = [lab.view("v", TODAY).build(), lab.view("w", PER_DAY).build()]
    a_day_later(views[0])
    lab.run(
        "insert into e values (9, date'2024-01-03', 'c')",
        "delete from e where id = 2",
        "update e set d = date'2024-01-02' where id = 7",
    )
    for view in views:
        view.must_be("incremental")
        view.must_be("no_op")


def test_another_drivers_refresh_has_a_later_date(lab):
    """A long run does not set the view back to the date on which it began."""
    views = [lab.view("v", TODAY).build(), lab.view("w", PER_DAY).build()]
    run = Pins()
    views[0].refresh(run)
    a_day_later(views[0])
    views[1].must_be("incremental")
    assert views[1].refresh(run).mode == "no_op"
    views[1].check()


def test_a_view_without_a_date_does_not_look_at_it(lab):
    view = lab.view("v", "select id, d from e").build()
    a_day_later(view)
    lab.engine.asked.clear()
    assert view.must_be("no_op").statements == ()
    assert lab.engine.asked == []


def test_all_views_of_a_run_have_one_date(lab):
    views = [lab.view("v", TODAY).build(), lab.view("w", TODAY).build()]
    a_day_later(views[0])
    pins = Pins()
    assert views[0].refresh(pins).mode == "incremental"
    a_day_later(views[0])
    assert views[1].refresh(pins).mode == "incremental"
    assert views[0].content() == views[1].content()
    assert views[1].must_be("incremental").explanation.startswith("the current time changed")


def test_a_date_that_a_full_refresh_used_is_in_the_frontier(lab):
    view = lab.view("v", TODAY).build()
    a_day_later(view)
    assert view.refresh(full_refresh=True).mode == "full"
    view.check()
    view.must_be("no_op")


def test_a_view_without_a_plan_that_depends_on_the_date(lab):
    """We cannot know when such a view changes."""
    view = lab.view("v", "select id, current_date() as d, rand() as r from e")
    assert [view.refresh().mode, view.refresh().mode] == ["create", "full"]


def test_a_view_whose_plan_failed_follows_the_date(lab):
    """Its own text was computed, which may give other rows on each day."""
    lab.engine.fails("create or replace table", "[INTERNAL_ERROR] in a plan")
    view = lab.view("v", PER_DAY)
    view.must_be("create", Reason.REFRESH_FAILED)
    a_day_later(view)
    view.must_be("full", Reason.REFRESH_FAILED)
    a_day_later(view)
    view.refresh()
    view.check()
