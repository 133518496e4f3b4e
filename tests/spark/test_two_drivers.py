"""Two drivers refresh one view: one wins, nothing is applied twice, and both end well."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from sparkivm.engine import Row
from tests.nightly import few_of
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View
from tests.spark.saved_tables import SavedTables
from tests.spark.state_sizes import SIZES, take_states_for

pytestmark = pytest.mark.spark

LINEAR = "select k, count(*) as n, sum(x) as s from t group by k"
EXTREMA = "select k, max(x) as most, sum(x) as s from t group by k"
ROWS = "select t.id, t.x, u.x as other from t join t as u on t.k = u.k"
QUERIES = {"linear": LINEAR, "extrema": EXTREMA, "rows": ROWS}
PAIRS = 8
_BEFORE = ("create or replace view", "cache", "alter table", "drop view")  # these do not apply the change


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    lab = Lab(spark, "two_drivers")
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    return SavedTables(lab, tmp_path_factory.mktemp("two_drivers"))


@pytest.fixture
def lab(spark, saved) -> Lab:
    lab = Lab(spark, "two_drivers")
    saved.put_into(lab)
    return lab


class Overtaken(PlainEngine):
    """A driver that another one overtakes between its decision and its first write."""

    def __init__(self, lab: Lab, meanwhile: Callable[[], object]) -> None:
        super().__init__(lab.session)
        self.session.sql(f"use {lab.schema}")
        self._meanwhile: list[Callable[[], object]] = [meanwhile]

    def execute(self, sql: str) -> Sequence[Row]:
        if self._meanwhile and not sql.startswith(_BEFORE):
            self._meanwhile.pop()()
        return super().execute(sql)


def overtaken(view: View, meanwhile: Callable[[], object]) -> View:
    """The same view with the slower driver."""
    slow = view.lab.another()
    slow.engine = Overtaken(view.lab, meanwhile)
    return View(slow, view.request)


@pytest.mark.parametrize(
    ("query", "size"),
    few_of(itertools.product(QUERIES, SIZES), [("linear", "small"), ("extrema", "large"), ("rows", "huge")]),
)
def test_stale_driver_applies_nothing_twice(lab, query, size, monkeypatch):
    take_states_for(size, monkeypatch)
    view = lab.view("m", QUERIES[query]).build()
    lab.run("insert into t values (4, 2, 8), (5, 3, 1)", "delete from t where id = 1")
    result = overtaken(view, view.refresh).refresh()
    assert result.mode == "no_op", result
    view.check()
    assert view.state_differences() == []
    assert len([commit for commit in view.history() if commit.operation != "SET TBLPROPERTIES"]) == 2


def test_maintenance_while_a_refresh_runs(lab):
    view = lab.view("m", EXTREMA).build()
    lab.run("insert into t values (4, 2, 8)")
    view.must_be("incremental")
    lab.run("insert into t values (5, 2, 9)")
    overtaken(view, lambda: lab.run("optimize m__ivm")).refresh()
    view.check()


def test_pairs_at_once(lab):
    views = [lab.view("linear", LINEAR).build(), lab.view("extrema", EXTREMA).build()]
    twin = lab.another()
    with ThreadPoolExecutor(2) as drivers:
        for pair in range(PAIRS):
            view = views[pair % 2]
            lab.run(f"insert into t values ({pair + 10}, {pair % 5}, {pair})")
            both = [drivers.submit(View(each, view.request).refresh) for each in (lab, twin)]
            modes = {run.result().mode for run in both}
            assert modes <= {"incremental", "no_op"}, modes
            view.check()
    for view in views:
        view.refresh()
        assert view.state_differences() == []
