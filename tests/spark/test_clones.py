"""Cloned views on Spark, in both formats: the state goes on, and its origin stays as it is."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from sparkivm.refresh.refresh_view import clone_view
from sparkivm.refresh.sources.pins import Pins
from tests.spark.lab import Lab, View

pytestmark = pytest.mark.spark

GROUPS = "select k, sum(x) as s, count(*) as n, max(x) as m from t group by k"
OVER = "select m, count(*) as groups, sum(s) as s from {} group by m"
BLANKS = "select k as `the key`, count(*) as n from t group by k"


def cloned(origin: View, clone: View, clones: Mapping[str, str]) -> View:
    """The clone, made."""
    result = clone_view(clone.lab.engine, clone.request, Pins(), origin.request.view, clones)
    assert result.mode == "clone"
    return clone


def state(view: View) -> str:
    return view.request.state.key


@pytest.mark.parametrize("states", ["delta", pytest.param("iceberg", marks=pytest.mark.nightly)])
def test_two_layers(spark, states):
    lab = Lab(spark, f"clones_{states}", "delta", states)
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, null)", "(4, null, 4)")
    m, over = lab.view("m", GROUPS).build(), lab.view("m2", OVER.format("m")).build()
    blanks = lab.view("b", BLANKS).build()
    before = [one.content() for one in (m, over, blanks)]
    ci_m, ci_over = lab.view("ci_m", GROUPS), lab.view("ci_m2", OVER.format("ci_m"))
    clones = {state(ci_m): state(m), state(ci_over): state(over)}
    cloned(over, ci_over, clones)
    cloned(m, ci_m, clones)
    ci_blanks = cloned(blanks, lab.view("ci_b", BLANKS), clones)
    for view in (ci_m, ci_over, ci_blanks):
        view.check_columns()
    ci_m.must_be("no_op")
    lab.run("insert into t values (5, 2, 8)", "delete from t where id = 1", "update t set x = 5 where id = 4")
    for view in (ci_m, ci_over, ci_blanks):
        view.must_be("incremental")
        view.must_be("no_op")
    lab.run("delete from t where k = 2")
    for view in (ci_m, ci_over, ci_blanks):
        view.must_be("incremental")
    assert not any(view.state_differences() for view in (ci_m, ci_over, ci_blanks))
    assert [one.content() for one in (m, over, blanks)] == before
    for view in (m, over, blanks):
        view.must_be("incremental")
