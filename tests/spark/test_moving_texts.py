"""Texts such as 'today' and '08:00': Spark fills in the day where it reads them as dates or times."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.nightly import few_of
from tests.spark.lab import Lab

pytestmark = pytest.mark.spark

MOVING = [
    "d >= 'yesterday'",
    "ts between 'yesterday' and 'tomorrow'",
    "d = to_date('today')",
    "nvl(d, 'today') = d",
    "ts > try_to_timestamp('now')",
    "ts > ' 08:00:00'",
    "hour('08:30') = 8",
    "extract(hour from '08:30') = hour(ts)",
    "d in ('2020-01-01', 'Tomorrow UTC')",
    "d = r'today'",
]
TEXTS = [
    "s = 'today' or s like 'tomorrow%' or s in ('now', 'later')",
    "s >= '08:00' and date_format(ts, 'HH:mm') > '07:30'",
    "case s when 'today' then 1 else 2 end = 1 and ts < current_timestamp()",
    "concat(s, 'now') = 'todaynow' or cast('now' as string) = s",
    "s in ('08:00', '09:00', '10:00', '11:00', '12:00', '13:00', '14:00', '15:00', '16:00', '17:00', '18:00', 'T1')",
    "from_json(s, 'today_total int').today_total is null and named_struct('t1', id).t1 = 1",
    "ts + interval '10:30' hour to minute > ts",
]


@pytest.fixture(scope="module")
def lab(spark) -> Lab:
    lab = Lab(spark, "moving_texts")
    lab.table(
        "t", "id int, d date, ts timestamp, s string",
        "(1, date'2020-01-01', timestamp'2020-01-01 09:00:00', 'today')",
        "(2, date'2100-01-01', timestamp'2100-01-01 08:30:00', '08:15')",
    )  # fmt: skip
    return lab


@pytest.mark.parametrize("number", few_of(range(len(MOVING)), [0, 1, 5]))
def test_they_are_not_incremental(lab, number):
    view = lab.view(f"moving_{number}", f"select id from t where {MOVING[number]}")
    view.must_be("create", Reason.NON_DETERMINISTIC_EXPRESSION)
    view.must_be("full", Reason.NON_DETERMINISTIC_EXPRESSION)


@pytest.mark.parametrize("number", few_of(range(len(TEXTS)), [0, 1, 4, 5]))
def test_they_may_be_texts(lab, number):
    lab.view(f"text_{number}", f"select id from t where {TEXTS[number]}").build()


def test_they_may_be_names(lab):
    lab.view(
        "pivoted",
        "select today, T1 from (select id, s from t) pivot (count(id) for s in ('today', 'T1'))",
    ).build()


def test_one_of_them_may_be_a_name_and_a_date(lab):
    sql = "select today from (select id, s from t where d > 'today') pivot (count(id) for s in ('today'))"
    lab.view("pivoted_of_today", sql).must_be("create", Reason.NON_DETERMINISTIC_EXPRESSION)
