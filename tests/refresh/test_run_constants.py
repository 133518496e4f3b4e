"""A literal that differs in each run: the public view is replaced, and no row is computed."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from sparkivm.refresh.request import StateLayout
from tests.refresh.lab import Lab, View, kinds

FIRST, SECOND = "2024-01-01 12:00:00.123456+00:00", "2024-01-02 12:00:00.5+00:00"
RUN = "cast('{at}' as timestamp) as loaded_at, '{at}' as run"
VIEWS = {
    "rows": f"select id, {RUN}, x from t",
    "filtered": f"with rows as (select * from t where x > 1), final as (select *, {RUN} from rows) select * from final",
    "joined": f"select t.id, u.y, {RUN} from t left join u on t.k = u.k",
    "of a derived table": f"select t.id, d.run, d.loaded_at from t join (select k, {RUN} from u) as d on t.k = d.k",
    "sorted": f"select id, {RUN} from t order by run, x desc limit 2",
    "groups": f"select k, count(*) as n, {RUN} from t group by k",
    "of all rows": f"select sum(x) as s, {RUN} from t",
    "windows": f"select k, sum(x) as s, rank() over (order by sum(x)) as r, {RUN} from t group by k",
}


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    lab.table("u", "k int, y int", "(1, 10)")
    return lab


def at(lab: Lab, time: str, sql: str, **options: object) -> View:
    return lab.view("m", sql.replace("{at}", time), **options)


@pytest.mark.parametrize("name", VIEWS)
def test_a_run_of_another_time(lab, name):
    sql = VIEWS[name]
    at(lab, FIRST, sql).build()
    second = at(lab, SECOND, sql)
    assert kinds(second.must_be("no_op").statements) == ["create or replace"]
    assert second.must_be("no_op").statements == ()
    lab.run("insert into t values (4, 2, 8)", "delete from t where id = 1")
    at(lab, FIRST, sql).must_be("incremental")


@pytest.mark.parametrize("name", VIEWS)
def test_the_test_compares_the_other_columns(lab, name):
    """dbt compiles the test in its own run, with another literal."""
    at(lab, FIRST, VIEWS[name]).build()
    other = at(lab, SECOND, VIEWS[name])
    assert lab.rows(other.consistency_sql()) == []


def test_groups_are_appended_and_keep_their_text(lab):
    """Views above read the text; its constants differ, but it goes on adding up entries, or not."""
    sql = "select k, sum(x) as s, '{at}' as run from t group by k"
    view = at(lab, FIRST, sql).build()
    above = lab.view("above", "select k, s from m where s > 0").build()
    lab.run("insert into t values (4, 2, 8)")
    assert at(lab, SECOND, sql).must_be("incremental").apply_form == "append"
    above.must_be("incremental")
    lab.resize(view.state, 9 << 20)
    at(lab, FIRST, sql).must_be("no_op")
    above.must_be("no_op")


def test_a_view_over_it(lab):
    for time in (FIRST, SECOND):
        at(lab, time, VIEWS["rows"]).refresh()
        above = lab.view("above", "select x, count(*) as n from m group by x")
        shown = lab.view("shown", "select id, run, loaded_at from m where x > 1")
        joined = lab.view(
            "joined",
            "select m.*, u.y from m join t on t.id = m.id left join u on u.k = t.k where u.y > 1 or m.x < 9",
        )
        for view in (above, shown, joined):
            view.must_be("create" if time == FIRST else "no_op")
            assert lab.rows(view.consistency_sql()) == []


def test_what_else_the_text_says_counts(lab):
    at(lab, FIRST, VIEWS["rows"]).build()
    at(lab, FIRST, VIEWS["rows"] + " where id > 1").must_be("full", Reason.QUERY_CHANGED)
    at(lab, FIRST, VIEWS["rows"].replace("as run", "as ran") + " where id > 1").must_be("incremental")
    typed = VIEWS["rows"].replace("'{at}' as run", "7 as run")
    at(lab, FIRST, typed).must_be("full", Reason.QUERY_CHANGED)


def test_a_constant_that_decides_about_rows(lab):
    sql = f"select * from (select id, {RUN} from t) where run > '2024-01-02' or id = 1"
    at(lab, FIRST, sql).build()
    at(lab, SECOND, sql).must_be("full", Reason.QUERY_CHANGED)


@pytest.mark.parametrize(
    "sql", [f"select distinct k, {RUN} from t", f"select id, {RUN} from t union all select y, {RUN} from u"]
)
def test_where_it_is_stored_all_the_same(lab, sql):
    at(lab, FIRST, sql).build()
    at(lab, SECOND, sql).must_be("full", Reason.QUERY_CHANGED)


def test_a_constant_that_the_layout_names_is_stored(lab):
    sql = "select id, 'de' as country from t"
    layout = StateLayout(partition_by=("Country",))
    at(lab, FIRST, sql, layout=layout).build()
    assert lab.rows("select country from m__ivm") == [("de",)] * 3
    at(lab, FIRST, sql.replace("de", "fr"), layout=layout).must_be("full", Reason.QUERY_CHANGED)


def test_a_query_of_constants_alone(lab):
    at(lab, FIRST, "select 1 as one, 'a' as b from t").build()
    lab.run("insert into t values (4, 2, 8)")
    at(lab, FIRST, "select 1 as one, 'a' as b from t").must_be("incremental")


def test_a_null_without_a_type_is_not_all_that_a_state_stores(lab):
    """Delta stores no table whose columns all lack a type."""
    sql = "select 1 as one, null as nothing, inner_nothing from (select null as inner_nothing from t)"
    at(lab, FIRST, sql).build()
    assert lab.rows("select one from m__ivm") == [(1,)] * 3
    lab.run("insert into t values (4, 2, 8)")
    at(lab, FIRST, sql).must_be("incremental")
