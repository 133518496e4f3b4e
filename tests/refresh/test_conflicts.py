"""Several drivers refresh one view: one wins, nothing is applied twice, and all end well."""

from __future__ import annotations

import pytest

from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.stored.commit import commit_statement
from tests.fake_engine.engine import Killed
from tests.fake_engine.statements import execute
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab, View, refused

MiB = 1 << 20
EXTREMA = "select k, max(x) as most, sum(x) as s from t group by k"
ROWS = "select t.id, t.x, u.x as other from t join t as u on t.k = u.k"
STATEMENTS = (
    "insert into `shop`.`m__ivm`",
    "insert overwrite `shop`.`m__ivm`",
    "merge into `shop`.`m__ivm`",
    "create or replace table",
)

FORMS = {
    "append": (BY_K, 0, 0),
    "rewrite": (EXTREMA, 0, 0),
    "replace": (EXTREMA, 3 * MiB, 0),
    "merge": (EXTREMA, 3 * MiB, 300_000),
    "rows rewritten": (ROWS, 0, 0),
    "rows replaced": (ROWS, 3 * MiB, 0),
    "rows merged": (ROWS, 3 * MiB, 300_000),
}


def in_form(lab: Lab, name: str) -> View:
    """A view with pending changes, which are applied in this form."""
    sql, size, said = FORMS[name]
    if size:
        lab.resize("m__ivm", size)
    view = lab.view("m", sql).build()
    lab.run("delete from t where id = 1", "insert into t values (4, 2, 8), (5, 3, 1)")
    if said:
        lab.says("t", numOutputRows=said)
    return view


def overtaken(view: View, meanwhile) -> View:
    """The same view with a driver that is overtaken just before it changes the state."""
    slow = view.on(view.lab.another())
    done = []

    def once() -> None:
        if not done:
            done.append(1)
            meanwhile()

    for statement in STATEMENTS:
        slow.lab.engine.before(statement, once)
    return slow


@pytest.mark.parametrize("form", FORMS)
def test_the_slower_driver_applies_nothing_twice(lab, form):
    view = in_form(lab, form)
    forms = []
    slow = overtaken(view, lambda: forms.append(view.must_be("incremental").apply_form))
    slow.must_be("no_op")
    assert form.removeprefix("rows ").startswith(forms[0][:5])
    written = [operation for operation in view.operations() if operation != "SET TBLPROPERTIES"]
    assert len(written) == 2
    lab.run("delete from t where id = 4")
    view.must_be("incremental")


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_that_is_lost_after_the_commit(lab, form):
    """The statement was executed. Delta skips the second attempt, which has the same transaction number."""
    view = in_form(lab, form)
    for statement in STATEMENTS[:3]:
        lab.engine.fails(statement, "[CONNECTION_LOST] no answer", when="after")
    view.must_be("no_op")
    assert len([operation for operation in view.operations() if operation != "SET TBLPROPERTIES"]) == 2


@pytest.mark.parametrize("form", FORMS)
def test_a_statement_that_the_server_executes_twice(lab, form):
    view = in_form(lab, form)
    for statement in STATEMENTS:
        lab.engine.after(statement, lambda: execute(lab.engine.session, lab.engine.ran[-1]))
    view.must_be("incremental")
    assert len([operation for operation in view.operations() if operation != "SET TBLPROPERTIES"]) == 2


def test_a_rival_that_saw_more(lab, view):
    lab.run("insert into t values (4, 2, 8)")

    def rival() -> None:
        lab.run("insert into t values (5, 3, 1)", "delete from t where id = 1")
        view.refresh()

    overtaken(view, rival).must_be("no_op")


def test_two_drivers_of_which_one_saw_the_state_after_maintenance(lab, view):
    """Both start from one frontier, so both use one transaction number, whatever versions they saw."""
    lab.run("insert into t values (4, 2, 8)")
    twin = view.on(lab.another())

    def rivals() -> None:
        lab.run("optimize m__ivm")
        twin.must_be("incremental")

    overtaken(view, rivals).must_be("no_op")
    assert view.operations() == ["CREATE OR REPLACE TABLE AS SELECT", "OPTIMIZE", "WRITE"]
    lab.run("insert into t values (5, 2, 8)")

    def other_way_round() -> None:
        view.must_be("incremental")

    lab.run("optimize m__ivm")
    overtaken(view, other_way_round).must_be("no_op")


def test_a_first_build_twice(lab):
    view = lab.view("m", BY_K)
    overtaken(view, view.refresh).must_be("no_op")
    assert len(view.history()) == 1


def test_a_rebuild_against_a_refresh(lab, view):
    lab.run("insert into t values (4, 2, 8)")
    slow = overtaken(view, view.refresh)
    slow.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    assert view.operations() == [
        "CREATE OR REPLACE TABLE AS SELECT",
        "WRITE",
        "CREATE OR REPLACE TABLE AS SELECT",
    ]


@pytest.mark.parametrize("form", FORMS)
def test_maintenance_while_a_refresh_runs(lab, form):
    view = in_form(lab, form)
    overtaken(view, lambda: lab.run("optimize m__ivm")).must_be("incremental")
    view.must_be("no_op")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "write",
    [
        "delete from m__ivm",
        "insert into m__ivm select * from m__ivm",
        "restore table m__ivm to version as of 0",
    ],
)
def test_a_foreign_write_while_a_refresh_runs(lab, form, write):
    view = in_form(lab, form)
    overtaken(view, lambda: lab.run(write)).must_be("full", Reason.STATE_MODIFIED)
    view.must_be("no_op")


@pytest.mark.parametrize("form", FORMS)
def test_a_driver_that_dies_after_a_foreign_write(lab, form):
    """Its commit is based on a state that it never saw; the next refresh notices."""
    view = in_form(lab, form)
    slow = overtaken(view, lambda: lab.run("delete from m__ivm"))
    for statement in STATEMENTS:
        slow.lab.engine.is_killed(statement, "after")
    with pytest.raises(Killed):
        slow.refresh()
    view.must_be("full", Reason.STATE_MODIFIED)


CONFLICTS = (
    "[DELTA_CONCURRENT_APPEND] files were added",
    "[DELTA_CONCURRENT_DELETE_READ] a file was deleted",
    "[DELTA_METADATA_CHANGED] the metadata changed",
    "[DELTA_PROTOCOL_CHANGED] the protocol changed",
)


@pytest.mark.parametrize("conflict", CONFLICTS)
@pytest.mark.parametrize("times", [1, 3])
def test_a_conflict_is_tried_again(lab, view, conflict, times):
    lab.run("insert into t values (4, 2, 8)")
    lab.engine.fails("insert", conflict, times=times)
    view.must_be("incremental")
    assert len([text for text in lab.engine.ran if text.startswith("insert")]) == times + 1


def test_a_conflict_is_known_by_its_class_wherever_it_is_named(lab, view):
    lab.run("insert into t values (4, 2, 8)")
    lab.engine.fails("insert", "org.apache…: [DELTA_CONCURRENT_APPEND] files were added")
    view.must_be("incremental")


@pytest.mark.parametrize("form", ["replace", "merge"])
def test_two_drivers_that_prepare_a_large_state_at_the_same_time(lab, form):
    """Both switch on deletion vectors; Delta refuses the second one."""
    view = in_form(lab, form)
    prepares = "alter table `shop`.`m__ivm` set"
    lab.engine.before(prepares, view.on(lab.another()).refresh)
    lab.engine.fails(prepares, "[DELTA_METADATA_CHANGED] the metadata changed")
    view.must_be("no_op", refresh_mode="strict")


@pytest.mark.parametrize("options", [{}, {"full_refresh": True}], ids=["from changes", "in full"])
def test_four_conflicts_are_an_error(lab, view, options):
    before = view.content()
    lab.run("insert into t values (4, 2, 8)")
    for statement in STATEMENTS:
        lab.engine.fails(statement, CONFLICTS[0], times=4)
    assert "REFRESH_CONFLICT" in refused(view, **options)
    assert view.content() == before
    view.on(lab.another()).must_be("incremental")


def test_another_error_is_no_conflict(lab, view):
    lab.run("insert into t values (4, 2, 8)")
    lab.engine.fails("insert", "[DELTA_TABLE_NOT_FOUND] gone")
    view.must_be("full", Reason.REFRESH_FAILED)


def test_a_run_sees_one_picture_of_its_sources(lab, view):
    """A write after the run's first look waits for the next run."""
    other = lab.view("m2", BY_K).build()
    lab.run("insert into t values (4, 1, 1)")
    pins, seen = Pins(), lab.version("t")
    assert [s.to_version for s in view.refresh(pins).sources] == [seen]
    lab.run("delete from t where id = 1", "insert into t values (5, 3, 1)")
    assert [s.to_version for s in other.refresh(pins).sources] == [seen]
    assert view.refresh(pins).mode == "no_op"
    view.must_be("incremental")


@pytest.mark.parametrize("catalog", ["spark_catalog", "lake"])
def test_a_relation_that_the_run_built_after_its_first_look(lab, view, catalog):
    """A `table` model, for example, that another view had read in a former run through a view."""
    pins = Pins()
    pins.in_catalog(catalog)
    assert view.refresh(pins).mode == "no_op"
    lab.run("insert into t values (4, 1, 1)")
    assert view.refresh(pins).mode == "no_op"
    pins.forget_everywhere(TableName("shop", "t"))
    assert view.refresh(pins).mode == "incremental"
    view.check()


@pytest.mark.parametrize("created_again", [False, True])
def test_a_run_that_saw_older_sources_than_the_view(lab, view, created_again):
    """Another run refreshed the view in between; this run does not undo it."""
    pins = Pins()
    view.refresh(pins)
    if created_again:
        lab.run("drop table t")
        lab.table("t", "id int, k int, x int", "(7, 7, 7)")
    lab.run("insert into t values (8, 3, 8)")
    view.refresh()
    assert view.refresh(pins).mode == "no_op"
    view.check()


def test_a_source_that_was_created_again_is_looked_at_once_in_a_run(lab, view):
    """All views of the run see one version of it, whatever is written meanwhile."""
    other = lab.view("m2", BY_K).build()
    lab.run("drop table t")
    lab.table("t", "id int, k int, x int", "(7, 7, 7)")
    pins = Pins()
    for number, one in enumerate((view, other)):
        assert one.refresh(pins).mode == "full"
        assert lab.rows(f"select sum(s) from {one.name}") == [(7,)]
        lab.run(f"insert into t values ({number}, 8, 1)")


def test_a_state_that_is_dropped_after_its_commit(lab, monkeypatch):
    """The refresh starts over."""
    dropped = []

    def then_dropped(*arguments):
        committed = commit_statement(*arguments)
        if not dropped:
            dropped.append(committed)
            lab.run("drop table m__ivm")
        return committed

    monkeypatch.setattr("sparkivm.refresh.run.attempt.commit_statement", then_dropped)
    lab.view("m", BY_K).must_be("create")
