"""Operations on a view besides a refresh: explain, the consistency test, drop, capture."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import EngineError, RelationFacts
from sparkivm.errors import DeclarationError, ModelError
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from tests.refresh.conftest import BY_K
from tests.refresh.lab import FEED, View, refused

# explain

WAITING = {
    "nothing": (),
    "rows": ("insert into t values (4, 3, 8)",),
    "maintenance": ("optimize t",),
    "a compared source": ("restore table t to version as of 0",),
    "a foreign write": ("delete from m__ivm",),
    "another table": (
        "drop table t",
        "create table t (id int, k int, x int) using delta",
        "insert into t values (1, 1, 1), (2, 2, 2)",
    ),
    "another type": ("alter table t alter column x type bigint",),
    "a gap": ("insert into t values (4, 3, 8)", "optimize t"),
}


@pytest.mark.parametrize("sql", [BY_K, "select k, max(x) as m from t group by k", "select id, x from t"])
@pytest.mark.parametrize("name", WAITING)
def test_explain_says_what_the_next_refresh_does(lab, name, sql):
    view = lab.view("m", sql).build()
    lab.run(*WAITING[name])
    if name == "a gap":
        lab.forget_commits("t", 2)
    lab.engine.ran.clear()
    text = view.explain()
    assert lab.engine.ran == [], "it changes nothing"
    result = view.refresh()
    line = next(line for line in text.split("\n") if line.startswith("next refresh: "))
    form = f" by {result.apply_form}" if result.mode == "incremental" else ""
    assert line == f"next refresh: {result.mode}{form}"
    if result.fallback is not None:
        assert result.fallback.reason.name in text


@pytest.mark.parametrize(
    ("sql", "steps"),
    [
        (BY_K, ["change the state: append of entries"]),
        (
            "select k, max(x) as m from t group by k",
            ["compute the changes as __ivm_staged", "change the state: rewrite of groups"],
        ),
    ],
    ids=["append", "rewrite"],
)
def test_explain_shows_the_steps_of_the_script(lab, sql, steps):
    view = lab.view("m", sql).build()
    lab.run("insert into t values (4, 3, 8)")
    shown = [line.split(": ", 1)[1] for line in view.explain().split("\n") if line.startswith("  step ")]
    assert [step for step in shown if step in steps] == steps
    assert shown[-1] == "replace the public view if its text changed"


def test_explain_shows_the_steps_of_a_rebuild(lab):
    shown = [line for line in lab.view("m", BY_K).explain().split("\n") if line.startswith("  step ")]
    assert any("replace all rows of" in line for line in shown)
    assert "create or replace the public view" in shown[-2]


def test_explain_of_a_view_that_is_not_built(lab):
    text = lab.view("m", BY_K).explain()
    assert "next refresh: full" in text
    assert "STATE_MISSING" in text


def test_explain_shows_the_delta(lab):
    view = lab.view("m", BY_K).build()
    lab.run("insert into t values (4, 3, 8)")
    lines = view.explain().split("\n")
    assert any(line.lstrip().startswith("Changes ") for line in lines), "\n".join(lines)


def test_explain_shows_the_plan_after_each_pass_that_changed_it(lab):
    sql = "select k, count(*) as n from (select k, x from t) as q where x > 0 group by k"
    view = lab.view("m", sql).build()
    lab.run("insert into t values (4, 3, 8)")
    lines = view.explain("steps").split("\n")
    shown = {line for line in lines if line and not line.startswith(" ")}
    assert {"plan: query", "plan: drop_projects", "plan: prune_columns", "append of entries: delta"} <= shown
    assert "plan: lift_moments" not in shown


def test_steps_of_what_has_no_plan(lab):
    text = lab.view("m", "select k, rand() as r from t").explain("steps")
    assert "not incremental" in text


@pytest.mark.parametrize("format", ["mermaid", "dot", "svg"])
def test_pictures(lab, view, format):
    assert "linear" in view.explain(format)


def test_another_format(lab, view):
    with pytest.raises(ModelError, match="unknown format png"):
        view.explain("png")


def test_explain_as_json(lab, view):
    lab.run("insert into t values (4, 3, 8)")
    found = json.loads(view.explain("json"))
    assert (found["view"], found["incremental"]) == ("shop.m", True)
    assert [node["reads"] for node in found["plan"]] == [[2], []]
    following = found["next_refresh"]
    assert (following["mode"], following["form"], following["reason"]) == ("incremental", "append", "")
    assert following["sources"] == [
        {"source": "shop.t", "from": 1, "to": 2, "read": "feed", "changed_rows": 1}
    ]
    assert "change the state: append of entries" in following["steps"]


def test_explain_as_json_of_what_is_not_incremental(lab):
    found = json.loads(lab.view("m", "select k,\nrand() as r from t").explain("json"))
    following = found["next_refresh"]
    assert (found["incremental"], found["plan"], following["mode"]) == (False, [], "full")
    assert following["reason"] == "STATE_MISSING"


@pytest.mark.parametrize(
    ("sql", "options", "what"),
    [
        (
            "select k, count(*) as n from t group by k",
            {"refresh_mode": "strict"},
            "QUERY_CHANGED: the model's SQL changed, but refresh_mode is strict",
        ),
        ("select k, rand() as r from t", {"refresh_mode": "strict"}, "but refresh_mode is strict"),
        (
            "select k, count(*) as n from t group by k",
            {"full_refresh_allowed": False},
            "but its config says full_refresh: false",
        ),
    ],
)
def test_explain_of_a_refresh_that_is_an_error(lab, sql, options, what):
    lab.view("m", "select id, x from t where x > 0").build()
    view = lab.view("m", sql, **options)
    text = view.explain()
    assert "next refresh: an error, which leaves the view as it is\n" in text
    assert what in text
    assert "step 1" not in text
    following = json.loads(view.explain("json"))["next_refresh"]
    assert (following["mode"], following["steps"]) == ("error", [])
    assert what in following["detail"]
    assert what in refused(view)


def test_explain_of_a_question_that_fails(lab):
    lab.resize("t", 100 << 20)
    view = lab.view("m", BY_K).build()
    lab.run("update t set x = x + 1 where k = 1")
    lab.engine.refuses["as texts"] = EngineError("gone", "FAILED_READ_FILE")
    assert "next refresh: full\n  what   REFRESH_FAILED: gone\n" in view.explain()
    assert "but refresh_mode is strict" in view.with_(refresh_mode="strict").explain()
    assert view.refresh().mode == "full"


# the consistency test


def different(view: View) -> list[tuple[object, ...]]:
    lab = view.lab
    return lab.rows(view.consistency_sql())


def test_a_view_is_compared_at_its_own_versions(lab, view):
    lab.run("insert into t values (4, 3, 8)", "delete from t where id = 1")
    assert different(view) == []
    view.must_be("incremental")
    assert different(view) == []


def test_what_differs_is_shown_with_its_side(lab, view):
    """The rows are changed without a commit, so metadata does not show it."""
    table = lab.delta("m__ivm")
    content = lab.lake.database.content(
        f"select 7 as k, * exclude (k) from {table.newest.content} where k = 1"
    )
    table.change(0, content=content)
    assert sorted(different(view), key=repr) == [
        ("only in the query", 1, 2, 3), ("only in the query", 2, 1, 4), ("only in the view", 7, 2, 3),
    ]  # fmt: skip


def test_copies_are_counted(lab):
    view = lab.view("m", "select k from t").build()
    table = lab.delta("m__ivm")
    table.change(0, content=lab.lake.database.content(f"select * from {table.newest.content}, range(3)"))
    assert ("only in the view, 4 times", 1) in different(view)


def test_a_view_that_was_built_empty_is_no_failure(lab):
    view = lab.view("m", BY_K)
    view.refresh(empty=True)
    assert lab.engine.query(view.consistency_sql()) == []


def test_what_cannot_be_read_at_a_version_is_compared_until_it_changes(lab):
    """The query reads a value of the session, so we cannot know what else it reads."""
    view = lab.view("m", "select k, current_schema() as s from t")
    view.must_be("create", Reason.NON_DETERMINISTIC_EXPRESSION)
    assert different(view) == []
    lab.run("insert into t values (4, 3, 8)")
    with pytest.raises(ModelError, match=r"shop\.t changed since the last refresh"):
        view.consistency_sql()


def test_a_driver_that_names_commits_in_another_way_sees_the_same_version(lab):
    view = lab.view("m", "select k, current_schema() as s from t")
    view.refresh()
    table = lab.delta("t")
    table.change(table.newest.number, commit=replace(table.newest.commit, id="history:1"))
    assert different(view) == []


def test_a_source_that_was_replaced_in_its_log_still_has_the_version(lab, view):
    lab.run("create or replace table t using delta as select 9 as id, 9 as k, 9 as x")
    assert different(view) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            ("drop table t", f"create table t (id int, k int, x int) using delta {FEED}"),
            r"shop\.t was replaced",
        ),
        (("create or replace view w as select k, x + 1 as x from t",), "a plain view that it reads"),
    ],
)
def test_what_was_replaced_is_not_compared(lab, change, what):
    lab.run("create view w as select k, x from t")
    view = lab.view("m", "select w.k, w.x from w").build()
    lab.run(*change)
    with pytest.raises(ModelError, match=what):
        view.consistency_sql()


@pytest.mark.parametrize(
    "sql",
    [
        "select w.k, w.x from w",
        "select k, x from t version as of 1 where k is not null",
        "select a.k, t.x from t version as of 1 as a join t on a.id = t.id",
    ],
)
def test_names_in_the_text_are_those_of_the_pinned_relations(lab, sql):
    lab.run("create view w as select k, x from t")
    view = lab.view("m", sql)
    view.refresh()
    assert different(view) == []
    view.refresh(full_refresh=True)
    assert different(view) == []


def test_a_plain_view_is_compared_at_the_versions_of_its_sources(lab):
    lab.run("create view w as select k, x from t")
    view = lab.view("m", "select w.k, w.x from w").build()
    lab.run("insert into t values (4, 3, 8)")
    assert different(view) == []


def test_a_text_that_names_a_version_reads_it(lab):
    view = lab.view("m", "select k, x from t version as of 0")
    view.refresh()
    assert lab.rows(view.consistency_sql()) == []
    assert view.content() == []


def test_a_state_that_was_computed_from_the_own_text_is_compared_with_it(lab):
    """A plan would take another row for FIRST."""
    view = lab.view("m", "select k, first(x) as f, sum(x) as s from t group by k")
    lab.engine.fails("create or replace table", "[USER_RAISED_EXCEPTION] a sum overflows its type")
    view.refresh()
    assert "first(x)" in view.consistency_sql()


def test_a_view_is_not_compared_under_another_current_schema(lab):
    lab.run("create table other.t using delta as select 7 as id, 7 as k, 7 as x")
    view = lab.view("m", "select id, x from t").build()
    lab.engine.session.schema = "other"
    with pytest.raises(ModelError, match="resolves differently than at the last refresh"):
        view.consistency_sql()


@pytest.mark.parametrize(
    ("damage", "sql", "message"),
    [
        ("delete from m__ivm", BY_K, "its state cannot be compared"),
        ("drop table m__ivm", BY_K, "its state cannot be compared"),
        ("drop view m", BY_K, "its public view is missing"),
        ("optimize m__ivm", BY_K + " having count(*) > 1", "is not the one that the view was refreshed with"),
    ],
)
def test_what_cannot_be_compared(lab, view, damage, sql, message):
    lab.run(damage)
    with pytest.raises(ModelError, match=message):
        view.with_(sql=sql).consistency_sql()


# drop


def test_drop(lab, view):
    said = view.drop()
    assert said.split("\n") == ["drop view if exists `shop`.`m`", "drop table if exists `shop`.`m__ivm`"]
    assert lab.names() == ["t"]
    view.must_be("create")


def test_drop_of_what_is_no_view_of_ours(lab):
    lab.run(
        "create view w as select k from t",
        "create table x__ivm using delta as select 1 as a",
        "create table y__ivm using parquet as select 1 as a",
    )
    before = lab.names()
    for name in ("t", "w", "x", "y", "nothing"):
        with pytest.raises(ModelError, match="has no table or view"):
            lab.view(name, BY_K).drop()
    assert lab.names() == before


def test_drop_leaves_what_has_the_name_of_the_view_by_now(lab, view):
    lab.run("drop view m", "create table m using delta as select 1 as a")
    view.drop()
    assert lab.names() == ["m", "t"]


def test_drop_of_a_state_that_somebody_wrote_to(lab, view):
    """It is still ours."""
    lab.run("delete from m__ivm", "optimize m__ivm")
    view.drop()
    assert lab.names() == ["t"]


# capture


def test_capture_switches_a_feed_on_once(lab):
    lab.run("create table p (k int) using delta")
    assert lab.capture("p") == "shop.p records its changes from now on (delta.enableChangeDataFeed = true)"
    assert lab.properties("p")["delta.enableChangeDataFeed"] == "true"
    assert "is a Delta table and records its changes" in lab.capture("p")
    assert lab.version("p") == 1


def test_an_iceberg_table_records_its_changes_already(lab, monkeypatch):
    facts = RelationFacts(TableName("shop", "p"), "iceberg", ())
    monkeypatch.setattr(lab.engine, "describe", lambda name: facts)
    assert lab.capture("p") == "shop.p is an Iceberg table and records its changes"


def test_capture_of_what_needs_none(lab):
    lab.run("create view w as select k from t", "create table q using parquet as select 1 as k")
    assert "incremental views read the tables below it" in lab.capture("w")
    no_mirror = DeclaredSources("shop", {"shop.q": {"mirror": False}})
    assert "is declared to have no mirror" in lab.capture("q", no_mirror)
    with pytest.raises(DeclarationError, match="there is no such table or view"):
        lab.capture("nothing")
    assert lab.names() == ["q", "t", "w"]


@pytest.mark.parametrize(
    "copied",
    [
        "alter table m__ivm rename to m__ivm_backup",
        "create table m__ivm_2025 shallow clone m__ivm version as of 0",
    ],
)
def test_drop_leaves_copies_of_a_state(lab, view, copied):
    """They have its marker, and are somebody else's."""
    lab.run(copied)
    view.refresh()
    (copy,) = (name for name in lab.names() if name.startswith("m__ivm_"))
    view.drop()
    assert copy in lab.names()
    assert view.state not in lab.names()
