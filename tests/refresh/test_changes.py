"""The rows that the last refresh changed: the view before and after it, compared as bags."""

from __future__ import annotations

from collections import Counter

import pytest

from sparkivm.errors import ModelError
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.changes import ChangedRows, changed_rows
from tests.refresh.conftest import BY_K
from tests.refresh.lab import View

VIEWS = {
    "groups": BY_K,
    "rows": "select k, x from t",
    "copies": "select k from t",
    "columns with ids": "select k as `the key`, x from t",
    "finalized": f"{BY_K} having sum(x) > 2",
    "sorted": "select id, x from t order by x desc limit 2",
    "extremum": "select k, max(x) as m from t group by k",
    "windows": "select k, sum(x) as s, rank() over (order by sum(x)) as r from t group by k",
    "average": "select k, avg(x) as a from t group by k",
}
CHANGES = (
    "insert into t values (4, 3, 8), (5, 3, 8)",
    "delete from t where id = 1",
    "update t set x = 7 where id = 3",
)


def of(view: View, limit: int = 100) -> ChangedRows:
    return changed_rows(view.lab.engine, view.request, limit)


def net(view: View) -> Counter[tuple[str, ...]]:
    """The rows that changed, with how many more there are; values as text, as JSON has them."""
    found: Counter[tuple[str, ...]] = Counter()
    for row in of(view).rows:
        found[tuple(map(str, row.values))] += row.times if row.change == "added" else -row.times
    return found


def bag(view: View) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(str, row)) for row in view.content())


@pytest.mark.parametrize("name", VIEWS)
def test_they_are_the_difference_of_what_readers_saw(lab, name):
    view = lab.view("m", VIEWS[name]).build()
    for change in CHANGES:
        before = bag(view)
        lab.run(change)
        view.must_be("incremental")
        expected = bag(view)
        expected.subtract(before)
        assert {row: n for row, n in net(view).items() if n} == {row: n for row, n in expected.items() if n}
    assert of(view).refresh.mode == "incremental"


def test_an_edited_query_that_kept_its_rows(lab):
    lab.view("m", "select id, x from t").build()
    view = lab.view("m", "select id, x, x + 1 as y from t")
    view.must_be("incremental")
    with pytest.raises(ModelError, match="the query or a setting changed"):
        of(view)
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    assert net(view) == {("4", "8", "9"): 1}


def test_a_first_build_added_all_rows(lab, view):
    found = of(view)
    assert found.refresh.mode == "create"
    assert [(row.change, row.times, row.values) for row in found.rows] == [
        ("added", 1, (1, 2, 3)), ("added", 1, (2, 1, 4)),
    ]  # fmt: skip
    assert found.columns == ("k", "n", "s")
    assert found.complete


def test_copies_are_counted(lab):
    view = lab.view("m", "select k from t").build()
    lab.run("insert into t values (4, 9, 1), (5, 9, 1)")
    view.must_be("incremental")
    (row,) = of(view).rows
    assert (row.change, row.times, row.values) == ("added", 2, (9,))


def test_a_rebuild_with_the_same_query(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    assert net(view) == {("3", "1", "8"): 1}
    assert of(view).refresh.mode == "full"


def test_maintenance_and_renewals_are_no_refreshes(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    lab.run("optimize m__ivm")
    lab.grow_older("m__ivm", 20)
    view.must_be("no_op")
    assert net(view) == {("3", "1", "8"): 1}


def test_the_limit(lab, view):
    found = of(view, limit=1)
    assert (len(found.rows), found.complete) == (1, False)
    assert of(view, limit=2).complete


def test_entries_that_were_folded_are_added_up(lab, view):
    for number in range(4, 12):
        lab.run(f"insert into t values ({number}, 1, 1)")
        view.must_be("incremental")
        assert sum(net(view).values()) == 0, "one row replaced another"


def test_another_query_cannot_be_compared(lab, view):
    changed = view.with_(sql="select k, count(*) as n, max(x) as s from t group by k")
    changed.must_be("full", Reason.QUERY_CHANGED)
    with pytest.raises(ModelError, match="the query or a setting changed"):
        of(changed)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (("drop view m",), "its public view is missing"),
        (("create or replace view m as select k, x from t",), "its public view is missing"),
    ],
)
def test_a_public_view_that_is_not_ours(lab, view, damage, message):
    lab.run(*damage)
    with pytest.raises(ModelError, match=message):
        of(view)


def test_a_literal_of_the_run(lab):
    """A run that only replaces a literal of the public view leaves no commit."""
    sql = "select k, count(*) as n, '{}' as run from t group by k"
    lab.view("m", sql.format("first")).build()
    lab.run("insert into t values (4, 3, 8)")
    second = lab.view("m", sql.format("second"))
    second.must_be("incremental")
    assert net(second) == {("3", "1", "second"): 1}, "the literal is the same in all rows"
    third = lab.view("m", sql.format("third"))
    third.must_be("no_op")
    with pytest.raises(ModelError, match="the public view was replaced"):
        of(third)


def test_a_version_before_that_is_gone(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    view.must_be("incremental")
    lab.forget_commits("m__ivm", 0)
    with pytest.raises(ModelError, match="no longer has a version before"):
        of(view)


def test_a_view_that_is_not_built(lab):
    with pytest.raises(ModelError, match="run the model"):
        of(lab.view("m", BY_K))
