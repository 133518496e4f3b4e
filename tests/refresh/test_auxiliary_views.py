"""Inner aggregates as auxiliary views: built with a view, refreshed before it, dropped with it."""

from __future__ import annotations

import json

import pytest

from sparkivm.engine import EngineError
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from sparkivm.refresh.run.auxiliaries import Auxiliaries
from tests.fake_engine.engine import Killed
from tests.refresh.lab import MAPPED, Lab, View, kinds, refused

TWICE = "select n, count(*) as c from (select k, count(*) as n from t group by k) group by n"
JOINED = "select u.name, i.s from u join (select k, sum(x) as s from t group by k) i on i.k = u.k"
TWO = "select a.k, a.s, b.n from (select k, sum(x) as s from t group by k) a full join (select x, count(*) as n from t group by x) b on a.k = b.x"
BELOW = (
    "select u.name, count(*) as n, sum(t.x) as s, count(t.x) as c from u join t on t.k = u.k group by u.name"
)
AUX = ["m__ivm_aux_1", "m__ivm_aux_1__ivm"]


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    lab.table("u", "k int, name string", "(1, 'a')", "(2, 'b')")
    return lab


def always(lab: Lab, sql: str, **options: object) -> View:
    return lab.view("m", sql, **{"auxiliary_views": "always", **options})


def kept(lab: Lab) -> list[str]:
    return [name for name in lab.names() if "__ivm_aux_" in name]


@pytest.mark.parametrize("sql", [TWICE, JOINED, TWO, BELOW])
def test_a_view_stays_equal(lab, sql):
    view = always(lab, sql).build()
    assert kept(lab)[: len(AUX)] == AUX
    lab.run("insert into t values (4, 2, 8), (5, 3, 1)")
    view.must_be("incremental")
    lab.run("delete from t where k = 1", "update u set name = 'z'")
    view.must_be("incremental")
    assert view.must_be("no_op").statements == ()


def test_they_are_built_first_and_read_by_the_state(lab):
    result = always(lab, TWICE).must_be("create")
    assert [text.split("`")[3] for text in result.statements] == [
        "m__ivm_aux_1__ivm",
        "m__ivm_aux_1",
        "m__ivm",
        "m",
    ]
    assert "`m__ivm_aux_1__ivm` version as of 0" in result.statements[2]


@pytest.mark.parametrize("sql", [TWICE, JOINED, TWO])
def test_a_rebuild_reads_them_not_the_rows_that_they_group(lab, sql):
    """Computed a second time, values that depend on the order of rows could be others."""
    view = always(lab, sql)
    for result in (view.must_be("create"), view.refresh(full_refresh=True)):
        (statement,) = [text for text in result.statements if text.split("`")[3] == "m__ivm"]
        assert "`m__ivm_aux_1__ivm`" in statement
        assert "`shop`.`t`" not in statement


def test_they_are_refreshed_first(lab):
    view = always(lab, TWICE).build()
    lab.run("insert into t values (4, 2, 8)")
    result = view.must_be("incremental")
    assert [text.split("`")[3] for text in result.statements if "insert" in text] == [
        "m__ivm_aux_1__ivm",
        "m__ivm",
    ]
    assert "`shop`.`t`" not in result.statements[-1]
    assert result.strategies["m__ivm_aux_1"] == "auxiliary view, refreshed first"


def test_a_source_that_changes_between_them_and_the_view(lab, monkeypatch):
    """Another thread of the run may look at the source again, for a view that knows a newer version."""
    sql = "select t.id, t.x, s.n from t join (select k, count(*) as n from t group by k) s on t.k = s.k"
    view = always(lab, sql).build()
    refreshed = Auxiliaries.of_state

    def then_written(auxiliaries, frontier):
        found = refreshed(auxiliaries, frontier)
        if lab.rows("select count(*) from t where id = 5") == [(0,)]:
            lab.run("insert into t values (5, 2, 8)")
            auxiliaries._sources.forget(TableName("shop", "t"))
        return found

    lab.run("insert into t values (4, 2, 8)")
    monkeypatch.setattr(Auxiliaries, "of_state", then_written)
    view.must_be("incremental")


def test_explain_says_that_they_are_refreshed_first(lab):
    view = always(lab, TWICE).build()
    lab.run("insert into t values (4, 2, 8)")
    following = json.loads(view.explain("json"))["next_refresh"]
    assert following["mode"] == "incremental"
    assert following["steps"] == ["refresh auxiliary view shop.m__ivm_aux_1"]
    view.must_be("incremental")
    assert "next refresh: no_op" in view.explain()


def test_a_change_that_leaves_the_inner_groups_alone_stops_there(lab):
    lab.resize("t", 20 << 20)
    view = always(lab, TWICE).build()
    lab.run("update t set x = x + 1")
    view.must_be("no_op")


def test_views_that_are_not_wanted_are_dropped(lab):
    view = always(lab, TWO).build()
    assert len(kept(lab)) == 4
    view = always(lab, JOINED)
    view.must_be("full", Reason.QUERY_CHANGED)
    assert kept(lab) == AUX
    lab.run("insert into t values (4, 2, 8)")
    view.must_be("full", Reason.CONFIG_CHANGED, auxiliary_views="never")
    assert kept(lab) == []
    view.must_be("no_op", auxiliary_views="never")


def test_an_edited_view_that_needs_no_auxiliary_view_any_more(lab):
    """Its frontier does not name the one that was dropped."""
    always(lab, TWO).build()
    view = always(lab, "select id, x from t")
    view.must_be("full", Reason.QUERY_CHANGED)
    assert kept(lab) == []
    assert view.frontier().views == {}
    assert lab.rows(view.consistency_sql()) == []
    view.must_be("no_op")


def test_a_comment_that_changes_is_the_same_query(lab):
    always(lab, JOINED).build()
    again = always(lab, JOINED + " -- said again")
    again.must_be("no_op")
    assert lab.rows(again.consistency_sql()) == []


@pytest.mark.parametrize(
    "damage",
    [
        ("drop view m__ivm_aux_1", "drop table m__ivm_aux_1__ivm"), ("drop table m__ivm_aux_1__ivm",),
        ("delete from m__ivm_aux_1__ivm",), ("insert into m__ivm_aux_1__ivm select * from m__ivm_aux_1__ivm",),
    ],
)  # fmt: skip
def test_one_that_somebody_dropped_or_changed_is_made_again(lab, damage):
    view = always(lab, JOINED).build()
    lab.run(*damage, "insert into t values (4, 2, 8)")
    view.refresh()
    view.check()
    lab.run("insert into t values (5, 1, 8)")
    view.must_be("incremental")


def test_one_that_was_rebuilt_alone_is_compared(lab):
    view = always(lab, JOINED).build()
    lab.run("delete from m__ivm_aux_1__ivm", "insert into t values (4, 2, 8)")
    assert view.refresh().mode in ("incremental", "full")
    view.check()


def test_a_full_refresh_computes_them_again(lab):
    view = always(lab, JOINED).build()
    lab.run("delete from m__ivm_aux_1__ivm")
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    lab.run("insert into t values (4, 2, 8)")
    view.must_be("incremental")


def test_a_driver_that_dies_between_them(lab):
    """The auxiliary view is then ahead of the view."""
    view = always(lab, JOINED).build()
    lab.run("insert into t values (4, 2, 8)")
    lab.engine.is_killed("insert into `shop`.`m__ivm_aux_1__ivm`", "after")
    with pytest.raises(Killed):
        view.refresh()
    again = view.on(lab.another())
    lab.run("insert into t values (5, 1, 8)")
    again.must_be("incremental")


def test_a_source_that_grows_between_them(lab):
    """Both read the versions that the run saw first."""
    view = always(lab, JOINED).build()
    lab.run("insert into t values (4, 2, 8)")
    lab.engine.after(
        "insert into `shop`.`m__ivm_aux_1__ivm`", lambda: lab.run("insert into t values (5, 1, 9)")
    )
    assert view.refresh().mode == "incremental"
    assert view.differences()
    view.must_be("incremental")


def test_another_driver_that_refreshes_one_of_them_meanwhile(lab):
    view = always(lab, JOINED).build()
    lab.run("insert into t values (4, 2, 8)")

    def rival() -> None:
        lab.run("insert into t values (5, 1, 9)")
        view.on(lab.another()).refresh()

    lab.engine.before("insert", rival)
    view.refresh()
    view.refresh()
    view.check()


def test_one_that_another_driver_brings_further(lab):
    """A view shows its sources and its auxiliary views at the versions in its frontier."""
    view = always(lab, JOINED).build()
    lab.run("insert into t values (4, 2, 8)")

    def rival() -> None:
        lab.run("insert into t values (5, 1, 9)")
        other = view.on(lab.another())
        other.lab.engine.is_killed("insert overwrite `shop`.`m__ivm`", "before")
        with pytest.raises(Killed):
            other.refresh()

    lab.engine.after("insert into `shop`.`m__ivm_aux_1__ivm`", rival)
    view.must_be("incremental")
    assert lab.rows(view.consistency_sql()) == []


def test_a_build_that_fails_leaves_none(lab):
    lab.engine.fails("create or replace table `shop`.`m__ivm`\n", "[SOMETHING] is wrong")
    assert "is wrong" in refused(always(lab, JOINED))
    assert lab.names() == ["t", "u"]


def test_where_one_cannot_be_built_none_is_kept(lab):
    lab.table("m__ivm_aux_2", "id int")
    (warning,) = always(lab, TWO).must_be("create").warnings
    assert "shop.m is built without auxiliary views" in warning
    assert kept(lab) == ["m__ivm_aux_2"]


def test_where_one_cannot_be_built_later_none_is_kept(lab):
    always(lab, TWO, auxiliary_views="never").build()
    lab.table("m__ivm_aux_2", "id int")
    always(lab, TWO).must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    assert kept(lab) == ["m__ivm_aux_2"]


def test_never_keeps_none(lab):
    lab.view("m", JOINED, auxiliary_views="never").build()
    assert kept(lab) == []


def test_auto_keeps_those_that_are_worth_it(lab):
    view = lab.view("m", JOINED, auxiliary_views="auto").build()
    assert kept(lab) == []
    lab.resize("t", 4 << 30)
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    assert kept(lab) == AUX


def test_mode_full_keeps_none(lab):
    always(lab, JOINED, refresh_mode="full").must_be("create")
    assert kept(lab) == []


def test_a_value_that_depends_on_the_order_needs_one(lab):
    """A sum of DOUBLE that decides about rows is computed once and stored."""
    lab.table("f", "k int, x double", "(1, 0.5)", "(2, 1.5)")
    sql = "select s, count(*) as n from (select k, sum(x) as s from f group by k) group by s"
    view = lab.view("m", sql).build()
    assert kept(lab) == AUX
    lab.run("insert into f values (1, 2.5)")
    view.must_be("incremental")
    lab.run("insert into f values (2, 2.5)")
    view.must_be("full", Reason.OPERATOR_NOT_SUPPORTED, auxiliary_views="never")
    assert kept(lab) == []


def test_one_below_another_is_not_a_view_of_its_own(lab):
    """An auxiliary view has no auxiliary views of its own."""
    lab.table("f", "k int, x double", "(1, 0.5)", "(2, 1.5)")
    sums = "select k, sum(x) as s from f group by k"
    more = f"select s, sum(s) as total from ({sums}) group by s"
    view = always(lab, f"select total, count(*) as n from ({more}) group by total").build()
    assert kept(lab) == AUX
    lab.run("insert into f values (1, 2.5)")
    view.must_be("incremental")
    assert kept(lab) == AUX


@pytest.mark.parametrize("rows", ["p", "f where d < current_date()"])
def test_a_sum_that_cannot_be_such_a_view_decides_nothing(lab, rows):
    """A query cannot name a mirror, and a moment belongs to this view only."""
    lab.table("f", "k int, x double, d date", "(1, 0.5, date'2020-01-01')")
    lab.run("create table p (k int, x double) using parquet", "insert into p values (1, 0.5)")
    sums = f"select k, sum(x) as s from {rows} group by k"
    view = lab.view("m", f"select s, count(*) as n from ({sums}) group by s")
    view.must_be("create", Reason.OPERATOR_NOT_SUPPORTED)
    assert kept(lab) == []


def test_only_what_decides_is_needed(lab):
    """Groups that do not depend on the order of rows are kept only where that is cheaper."""
    lab.table("f", "k int, x double", "(1, 0.5)", "(2, 1.5)")
    counts = "select k, count(*) as n from t group by k"
    sums = "select k, sum(x) as s from f group by k"
    view = lab.view("m", f"select c.n, s.s from ({counts}) c join ({sums}) s on c.k = s.k where s.s > 1")
    view.build()
    assert kept(lab) == AUX
    lab.run("insert into f values (1, 2.5)", "insert into t values (4, 2, 8)")
    view.must_be("incremental")
    assert "count(*)" not in view.frontier().auxiliaries[0]


def test_explain_shows_them(lab):
    view = always(lab, JOINED).build()
    text = view.explain()
    assert "auxiliary view shop.m__ivm_aux_1, refreshed first" in text
    assert "next refresh: no_op" in text


def test_they_are_dropped_with_the_view(lab):
    view = always(lab, TWO).build()
    said = view.drop()
    assert kinds(said.split("\n")) == ["drop view if"] * 3 + ["drop table if"] * 3
    assert lab.names() == ["t", "u"]


def test_groups_below_a_join_are_kept_where_the_other_side_changes(lab):
    """The refresh reads the auxiliary view instead of the grouped source, of which it reads only the changes."""
    view = always(lab, BELOW).build()
    lab.run("update u set name = 'z' where k = 1", "insert into t values (4, 2, 8)")
    result = view.must_be("incremental")
    assert "`shop`.`t`" not in result.statements[-1]
    assert "`m__ivm_aux_1__ivm`" in result.statements[-1]


def test_groups_below_a_join_are_shown_in_entries(lab):
    """The view over them adds up, so that their own view need not."""
    always(lab, BELOW).build()
    facts = lab.engine.describe(TableName("shop", "m__ivm_aux_1"))
    assert facts is not None
    assert facts.view_text is not None
    assert "sum(" not in facts.view_text


def test_a_predicate_without_columns_stays_with_the_join(lab):
    view = always(lab, BELOW.replace(" group by", " where 'dev' = 'prod' group by")).build()
    assert kept(lab) == AUX
    lab.run("update u set name = 'z' where k = 1", "insert into t values (4, 2, 8)")
    view.must_be("incremental")
    assert view.content() == []


def test_they_are_kept_once_the_other_side_has_changed(lab):
    lab.resize("t", 4000 << 20)
    view = lab.view("m", BELOW).build()
    assert kept(lab) == []
    lab.run("insert into t values (4, 2, 8)")
    view.refresh(full_refresh=True)
    assert kept(lab) == [], "the other side never changed"
    lab.run("update u set name = 'z' where k = 1")
    view.refresh(full_refresh=True)
    assert kept(lab) == AUX
    view.check()


def test_they_are_kept_at_once_where_the_other_side_is_a_view(lab):
    lab.resize("t", 4000 << 20)
    lab.view("names", "select k, name from u").build()
    lab.view("m", BELOW.replace("from u", "from names as u")).build()
    assert kept(lab) == AUX


AUX_WRITES = tuple(
    f"{begin} `shop`.`m__ivm_aux_1__ivm`"
    for begin in ("create or replace table", "insert into", "insert overwrite", "merge into")
)


def fail_below_the_join(lab: Lab) -> None:
    """As for a row that the join drops, for which the query computes nothing."""
    lab.engine.fails(AUX_WRITES, "[DIVIDE_BY_ZERO] Division by zero", times=9)


def test_groups_below_a_join_that_fail_are_not_kept(lab):
    fail_below_the_join(lab)
    view = always(lab, BELOW)
    (warning,) = view.must_be("create").warnings
    assert "shop.m is built without auxiliary views" in warning
    assert kept(lab) == []
    lab.run("update u set name = 'z' where k = 1", "insert into t values (4, 2, 8)")
    view.must_be("incremental")


def test_groups_below_a_join_that_fail_later_are_dropped(lab):
    view = always(lab, BELOW).build()
    lab.run("insert into t values (4, 2, 8)", "update u set name = 'z' where k = 1")
    fail_below_the_join(lab)
    assert "DIVIDE_BY_ZERO" in refused(view.with_(refresh_mode="strict"))
    assert kept(lab) == AUX
    result = view.must_be("full", Reason.REFRESH_FAILED)
    assert "DIVIDE_BY_ZERO" in str(result.fallback)
    assert kept(lab) == []
    lab.run("insert into t values (5, 2, 8)")
    view.must_be("incremental")


def test_a_plan_that_spark_refuses_without_them(lab, monkeypatch):
    """No source has to record its changes then."""
    more = "join (select x, count(*) as n from t group by x) j on j.x = u.k"
    always(lab, f"{JOINED} {more}").build()
    assert len(kept(lab)) == 4
    schema_of = lab.engine.schema_of

    def refuses(sql: str) -> object:
        if all(text in sql for text in ("as state", "`shop`.`t`", "`shop`.`u`")):
            raise EngineError("this is too difficult")
        return schema_of(sql)

    monkeypatch.setattr(lab.engine, "schema_of", refuses)
    always(lab, JOINED).must_be("full", Reason.QUERY_CHANGED)
    assert kept(lab) == []


def test_a_source_that_grows_while_its_feed_is_switched_on(lab):
    """An auxiliary view, which could not do so, has read it before. Both read it again."""
    lab.table("w", "id int, k int", "(1, 1)", "(2, 1)", clauses="")
    lab.engine.fails("alter table `shop`.`w`", "[NO_PERMISSION] to alter it")
    lab.engine.before("alter table `shop`.`w`", lambda: lab.run("insert into w values (3, 1)"))
    counts = "select k, count(*) as n from w group by k"
    view = always(lab, f"select w.id, s.n from w join ({counts}) s on w.k = s.k")
    view.must_be("create")
    assert kept(lab) == AUX


def test_they_are_not_kept_below_windows_that_a_reader_computes(lab):
    always(lab, f"select name, n, rank() over (order by n, name) as place from ({BELOW})").build()
    assert kept(lab) == []


@pytest.mark.parametrize("message", ["[DISK_FULL] no space", "[INTERNAL_ERROR] in a plan"])
def test_a_state_that_cannot_be_built_over_new_ones_leaves_none(lab, message):
    """The state as it is does not read them."""
    view = lab.view("m", TWICE, auxiliary_views="never").build()
    again = view.with_(auxiliary_views="always", full_refresh=True)
    lab.engine.fails("create or replace table `shop`.`m__ivm`", message)
    if "INTERNAL_ERROR" in message:
        again.refresh()
    else:
        refused(again)
    assert kept(lab) == []
    view.check()


ORDERED = "select count(*) as n from (select k, sum(y) as s from {} group by k) as i where i.s > 2"
SAME_ROWS = "select 1 as k, cast(1.5 as double) as y union all select 1, cast(2.5 as double)"


def test_a_source_that_is_replaced_by_equal_rows(lab):
    lab.run(f"create or replace table same using delta as {SAME_ROWS}")
    view = lab.view("m", ORDERED.format("same"), refresh_mode="auto").build()
    assert kept(lab) == AUX
    for _ in range(2):
        lab.run(f"create or replace table same using delta as {SAME_ROWS}")
        view.must_be("no_op")
    lab.run("insert into same values (2, 9.0)")
    assert view.refresh().mode in ("incremental", "full")
    view.check()


def test_a_view_above_one_that_is_rebuilt_with_equal_rows(lab):
    below = lab.view("below", "select k, cast(x as double) as y from t").build()
    view = lab.view("m", ORDERED.format("below"), refresh_mode="auto").build()
    below.refresh(full_refresh=True)
    view.must_be("no_op")


@pytest.mark.parametrize(
    "changes",
    [
        ["alter table w rename column y to z", "create or replace view v as select k, z as y from w"],
        [
            "create or replace table u using delta as select k, y from w",
            "create or replace view v as select * from u",
            "drop table w",
        ],
    ],
    ids=["column", "table"],
)
def test_what_a_plain_view_reads_has_another_name(lab, changes):
    lab.table("w", "k int, y double", "(1, 1.5)", "(1, 2.5)", clauses=MAPPED)
    lab.run("create view v as select k, y from w")
    view = lab.view("m", ORDERED.format("v"), refresh_mode="auto").build()
    lab.run(*changes)
    result = view.refresh()
    assert (result.mode, bool(result.fallback)) == ("full", True)
    view.check()
    assert kept(lab) == AUX


def test_a_full_refresh_is_possible_although_an_auxiliary_view_fails(lab, monkeypatch):
    view = lab.view(
        "m", ORDERED.format("(select k, cast(x as double) as y from t)"), refresh_mode="auto"
    ).build()
    lab.run("insert into t values (9, 1, 5)")
    lab.engine.fails(AUX_WRITES, "[SOMETHING] is broken")
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)


IN_DOUBLE = "(select k, sum(y) as s from f group by k) i on i.k = u.k"


@pytest.mark.parametrize(
    "sql",
    [
        f"select u.k, i.s >= 1.3 as gold from u join {IN_DOUBLE}",
        f"select u.k, coalesce(i.s, 0) >= 1.3 as gold from u left join {IN_DOUBLE}",
        f"select u.k, round(i.s + 0.05, 1) as s from u join {IN_DOUBLE}",
        "select k, (select sum(y) from f where f.k = u.k) >= 1.3 as gold from u",
    ],
)
def test_a_row_that_shows_a_choice_by_a_sum_of_double(lab, sql):
    """In another order, 0.1 + 0.2 + 0.7 + 0.3 is not 1.3, and the row to delete looks like the new one."""
    lab.run(
        "create table f (id int, k int, y double) using delta tblproperties (delta.enableChangeDataFeed = true)"
    )
    for order in ("0.1, 0.2, 0.7, 0.3", "0.3, 0.7, 0.2, 0.1"):
        view = lab.view("m", sql)
        lab.run("delete from f where true")
        for number, value in enumerate(order.split(", ")):
            lab.run(f"insert into f values ({number}, 1, {value})")
        view.refresh(full_refresh=True)
        assert kept(lab) == AUX
        for number in range(4):
            lab.run(f"delete from f where id = {number}")
            view.must_be("incremental")


def test_a_window_of_double_whose_value_is_compared(lab):
    view = lab.view("m", "select k, sum(cast(x as double)) over (partition by k) > 2 as many from t")
    view.must_be("create", Reason.OPERATOR_NOT_SUPPORTED)


def test_mode_full_drops_those_that_are_there(lab):
    """And does not refresh them first."""
    view = always(lab, JOINED).build()
    lab.run("insert into t values (4, 2, 8)")
    result = view.must_be("full", Reason.FULL_REFRESH_REQUESTED, refresh_mode="full")
    assert not any(text.startswith("insert") for text in result.statements)
    assert kept(lab) == []


def test_the_layout_is_of_the_view_alone(lab):
    """An auxiliary view does not have the columns that it names."""
    layout = StateLayout(partition_by=("name",))
    assert always(lab, JOINED, layout=layout).must_be("create").warnings == ()
    assert kept(lab) == AUX
