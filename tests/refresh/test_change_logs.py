"""Sources that are logs of changes: a view reads the table that a log tells of, and refuses what it does not know."""

from __future__ import annotations

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.refresh.request import SqlHeader
from tests.refresh.lab import Lab, View, refused

LOG = {
    "key": "id",
    "change_log": {
        "order": ["at"],
        "operation": "op",
        "upserts": ["c", "u"],
        "deletes": ["d"],
        "ignored": ["x"],
    },
}
SUMS = "select k, count(*) as n, sum(x) as s from shop.log group by k"


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    rows = ("('c', 1, 1, 1, 5)", "('c', 2, 2, 1, 6)", "('u', 3, 1, 2, 7)", "('x', 4, 9, 9, 9)")
    lab.table("log", "op string, at int, id int, k int, x int", *rows)
    return lab


def view_of(lab: Lab, sql: str = SUMS, **change_log: object) -> View:
    meta = {**LOG, "change_log": {**LOG["change_log"], **change_log}}  # type: ignore[dict-item]
    return lab.view("m", sql, declared=DeclaredSources("shop", {"shop.log": meta}))


def test_a_view_shows_the_table_that_the_log_tells_of(lab):
    view = view_of(lab)
    assert view.refresh().mode == "create"
    assert view.content() == [(1, 1, 6), (2, 1, 7)]
    assert view.refresh().mode == "no_op"
    lab.run("insert into log values ('d', 5, 2, null, null), ('u', 6, 1, 3, 8), ('c', 7, 4, 3, 1)")
    assert view.refresh().mode == "incremental"
    assert view.content() == [(3, 2, 9)]
    lab.run("insert into log values ('c', 8, 2, 3, 2), ('x', 9, 1, 1, 1)")
    assert view.refresh().mode == "incremental"
    assert view.content() == [(3, 3, 11)]


@pytest.mark.parametrize("built", [False, True], ids=["first", "later"])
def test_an_operation_that_is_not_declared(lab, built):
    view = view_of(lab)
    if built:
        view.refresh()
    before = lab.names(), view.content() if built else []
    lab.run("insert into log values ('truncate', 5, null, null, null)")
    assert "the log has the operation truncate, which is not declared" in refused(view)
    assert (lab.names(), view.content() if built else []) == before
    assert view_of(lab, ignored=["x", "truncate"]).refresh().mode in ("create", "incremental", "full")


@pytest.mark.parametrize(
    ("sql", "options"),
    [
        (SUMS, {"header": SqlHeader(("create temporary view w as select 1 as a",), "it creates w")}),
        ("select abs(x) from shop.t union all select x from shop.log", {}),
    ],
    ids=["header", "function of a user"],
)
def test_an_operation_that_is_not_declared_in_a_view_that_is_not_incremental(lab, sql, options):
    lab.table("t", "x int", "(1)")
    lab.lake.functions.add("abs")
    view = view_of(lab, sql).with_(**options)
    assert view.refresh().mode == "create"
    lab.run("insert into log values ('truncate', 5, null, null, null)")
    assert "the log has the operation truncate, which is not declared" in refused(view)


def test_a_log_is_asked_for_its_operations_where_it_grew(lab):
    view = view_of(lab)
    view.refresh()
    lab.engine.asked.clear()
    view.refresh()
    assert lab.engine.asked == []
    lab.run("insert into log values ('c', 5, 5, 5, 5)")
    view.refresh()
    assert len([text for text in lab.engine.asked if "operation" in text]) == 1


@pytest.mark.parametrize(
    ("change_log", "message"),
    [
        ({"order": ["nothing"]}, "the log has no column nothing"),
        ({"operation": "nothing"}, "the log has no column nothing"),
        ({"deletes": ["c"]}, "'c' is in change_log.upserts and in deletes"),
        ({"ordr": "at"}, "change_log has no option ordr"),
    ],
)
def test_a_declaration_that_is_wrong_changes_nothing(lab, change_log, message):
    assert message in refused(view_of(lab, **change_log))
    assert lab.names() == ["log"]


def test_a_log_read_at_a_version(lab):
    view = view_of(lab, "select k from shop.log version as of 1")
    assert "is a change log, which has no versions" in refused(view)


def test_a_model_that_may_read_a_log(lab):
    """If the text cannot be parsed, we do not know whether it reads the log."""
    assert "it may read the change log shop.log" in refused(view_of(lab, "select k from shop.log where (("))


@pytest.mark.parametrize("name", ["identifier('shop' || '.log')", "lake.eu.shop.log"])
def test_a_name_that_may_be_a_logs(lab, name):
    assert "it may read the change log shop.log" in refused(view_of(lab, f"select k from {name}"))


def test_a_log_named_without_its_schema(lab):
    view = view_of(lab, SUMS.replace("shop.log", "log"))
    view.refresh()
    assert view.content() == view_of(lab).content() == [(1, 1, 6), (2, 1, 7)]
    other = lab.view("o", "with log as (select 1 as one) select one from log", declared=view.request.declared)
    other.refresh()
    assert other.content() == [(1,)]
