"""HAVING with subqueries over aggregates, FIRST and similar, NULL in PIVOT, LIMIT 0, columns named like ours."""

from __future__ import annotations

import pytest

from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.consistency import consistency_sql
from tests.spark import rounds
from tests.spark.lab import FEED, Lab, View, refused, side_by_side

pytestmark = pytest.mark.spark

CONSTRUCTS = {
    "sum_in": "select k, count(*) as n from t group by k having sum(a) in (select b from u)",
    "max_not_in": "select k, count(*) as n from t group by k having max(s) not in (select s from u where u.k = t.k)",
    "of_all": "select count(*) as n from t having sum(a) in (select b from u) or count(*) > 1",
    "in_select": "select k, sum(a) in (select b from u) as found from t group by all",
    "exists": "select k, count(t.a) as n from t group by k having exists (select 1 from u where u.k = count(t.a))",
    "scalar": "select k from t group by k having sum(t.a) > (select min(u.b) from u where u.k < count(t.s))",
    "pivot": "select * from (select k, a, s from t) pivot (max(s) as m, count(*) as n for a in (1 as one, null as none))",
    "pivot_name": "select k, `null` from (select k, a, s from t) pivot (max(s) for a in (1, null))",
    "none": "select k, a from t limit 0",
    "none_within": "select k, (select max(b) from u limit 0) as b from t where a not in (select b from u limit 0)",
}
OF_ONE_ROW = {
    "pair": "select k, first(a) as x, first_value(s) as y from t group by k",
    "decides": (
        "select c.k, c.x, c.y, u.b from (select k, any_value(a) as x, any_value(s) as y from t group by k) as c "
        "left join u on u.k = c.x where c.y <> 'z' or c.y is null"
    ),
}
OTHERS = {
    "alone": "select k, any_value(s) as x, any_value(s) as y from t group by k",
    "over_view": "select k, x, y from chosen_below where x > 0",
    "ends": "select k, first(a) as x, last(s) as y, last(a, true) as z, any_value(s) filter (where a > 1) as w from t group by k",
    "named_by_spark": "select k, first(s), last(a) ignore nulls from t group by k",
    "within": "select k, (select first(u.s) from u where u.k = t.k) from t",
}


@pytest.fixture(scope="module")
def lab(spark) -> Lab:
    lab = Lab(spark, "small_constructs")
    lab.table(
        "t", "k int, a int, s string", "(1, 1, 'x')", "(1, null, 'y')", "(1, 2, null)", "(2, null, 'z')"
    )
    lab.table("u", "k int, b int, s string", "(1, 3, 'x')", "(2, null, 'q')", "(2, 0, null)")
    lab.table(
        "maps", "id int, m map<string, int>, several array<map<string, int>>, at int",
        "(1, map('a', 1, 'b', 2), array(map('c', 3)), 1)", "(2, map('d', 4), array(map()), 1)",
    )  # fmt: skip
    lab.run("create view chosen_below as select k, any_value(a) as x, last(s) as y from t group by k")
    return lab


CHANGES = (
    ("insert into t values (2, 3, 'x'), (3, 1, 'w'), (1, 1, 'x')", "delete from u where b is null"),
    ("delete from t where s = 'x'", "insert into u values (0, 2, 'w'), (1, 1, 'z')"),
    ("update t set s = concat(s, '!'), a = 1 where k < 3",),
)


def is_consistent(view: View) -> None:
    """Compare with its query at the frontier; ties are broken as in the view."""
    sql = consistency_sql(view.lab.engine, view.request)
    assert view.lab.rows(sql) == [], view.name


def rows_are_there(view: View) -> None:
    """The values that a view shows for a group are from one row of the group."""
    found = view.lab.rows(
        f"select * from {view.name} as v left anti join t on t.k <=> v.k and t.a <=> v.x and t.s <=> v.y"
    )
    assert found == [], view.name


def test_constructs_follow_their_sources(lab):
    views = [lab.view(name, sql) for name, sql in CONSTRUCTS.items()]
    chosen = [lab.view(name, sql) for name, sql in (OF_ONE_ROW | OTHERS).items()]
    side_by_side(lab, views, View.build)
    assert rounds.refresh_all(lab, chosen) == {"create"}
    for statements in CHANGES:
        lab.run(*statements)
        assert rounds.refresh_all(lab, [*views, *chosen]) <= {"incremental", "no_op"}
        side_by_side(lab, views, View.check)
        side_by_side(lab, chosen, is_consistent)
        side_by_side(lab, chosen[: len(OF_ONE_ROW)], rows_are_there)
    assert not any(side_by_side(lab, [*views, *chosen], View.state_differences))


def test_a_choice_among_values_without_order(lab):
    lab.table("maps", "k int, m map<string, int>", "(1, map('a', 1))")
    lab.view("of_maps", "select k, any_value(m) as m from maps group by k").must_be(
        "create", Reason.SQL_NOT_UNDERSTOOD
    )


LIKE_OURS = "k int, `__ivm_w` int, `__IVM_n` int, `__ivm_new` int, `__ivm_gone` string, `__ivm_newest` int, `__ivm_operation` string"
OF_LIKE_OURS = {
    "sums": "select k, count(*) as n from {p} group by k",
    "extrema": "select k, max(`__ivm_w`) as m, sum(`__ivm_n`) as s from {p} group by k",
    "joined": "select x.k, y.`__ivm_w` as w, x.`__ivm_gone` as g from {p} x left join {p} y on x.k = y.`__ivm_new`",
    "counted": "select k, count(*) as n from {p} where k in (select `__ivm_w` from {p}) group by k having count(*) < 9",
    "windows": "select k, row_number() over (partition by k order by `__ivm_w`, `__ivm_n`) as n from {p}",
}


def rows(*some: tuple[int, int]) -> str:
    return ", ".join(f"({k}, {w}, {k + w}, {w}, 'g{k}', {k}, 'o')" for k, w in some)


@pytest.mark.parametrize("kind", ["delta", "mirror", "mirror by key", "change log"])
def test_columns_named_like_ours(spark, kind):
    lab = Lab(spark, "named_like_ours")
    metas: dict[str, object] = {}
    columns, first, more = LIKE_OURS, rows((1, 2), (2, 1), (3, 1)), rows((4, 1), (5, 4))
    if kind == "change log":
        columns = f"op string, at int, {LIKE_OURS}"
        first, more = (text.replace("(", "('i', 1, ") for text in (first, more))
        metas["named_like_ours.p"] = {"key": ["k"], "change_log": {"format": "columns", "order": ["at"]}}
    elif kind == "mirror by key":
        metas["named_like_ours.p"] = {"key": ["k"]}
    stored = "using parquet" if kind.startswith("mirror") else f"using delta {FEED}"
    lab.run(f"create table p ({columns}) {stored}", f"insert into p values {first}")
    declared = DeclaredSources(lab.schema, metas)
    views = [
        lab.view(name, sql.format(p=f"{lab.schema}.p"), declared=declared)
        for name, sql in OF_LIKE_OURS.items()
    ]
    assert rounds.refresh_all(lab, views) == {"create"}
    lab.run(f"insert into p values {more}")
    assert rounds.refresh_all(lab, views) == {"incremental"}
    if kind.startswith("mirror"):
        lab.run(f"insert overwrite p values {rows((1, 2), (2, 7), (9, 1))}")
    elif kind == "change log":
        lab.run(
            f"insert into p values {rows((2, 7)).replace('(', chr(40) + chr(39) + 'd' + chr(39) + ', 2, ')}"
        )
    else:
        lab.run("update p set `__ivm_w` = 7, `__ivm_gone` = null where k = 2", "delete from p where k = 3")
    assert rounds.refresh_all(lab, views) == {"incremental"}
    for view in views:
        sql = consistency_sql(lab.engine, view.request)
        assert lab.rows(sql) == [], view.name
    star = lab.view("star", f"select * from {lab.schema}.p", declared=declared)
    assert "has a reserved name" in refused(star)


def test_the_order_of_columns_is_no_change(spark):
    lab = Lab(spark, "other_order")
    lab.table("t", "k int, a int, s string", "(1, 1, 'x')", "(2, null, 'z')")
    named = [
        lab.view("sums", "select k, sum(a) as n, max(s) as s from t group by k"),
        lab.view("rows", "select s, k from (select * from t) where k > 0"),
        lab.view(
            "unread", "select k, count(*) as n from (select distinct * from t) natural join t group by k"
        ),
    ]
    star = lab.view("star", "select * from t")
    side_by_side(lab, [*named, star], View.build)
    lab.run("alter table t alter column s first")
    for view in named:
        view.must_be("no_op")
    star.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)
    lab.run("insert into t values ('y', 2, 5), (null, 3, 1)")
    for view in [*named, star]:
        view.must_be("incremental")


EXPLODED = {
    "of_maps": "select id, explode(coalesce(m, cast(map() as map<string, int>))) from maps",
    "made": "select explode(transform_values(m, (k, v) -> v + 1)) from maps",
    "in_array": "select explode(several[0]) from maps",
    "in_union": "select explode(m) from (select m from maps union all select m from maps)",
    "grouped": "select id, posexplode(m) from (select id, max_by(m, at) as m from maps group by id)",
    "lateral": "select * from maps lateral view explode(coalesce(m, cast(map() as map<string, int>))) x",
}


@pytest.mark.parametrize("name", EXPLODED)
def test_a_map_of_which_only_spark_knows_that_it_is_one(lab, name):
    """EXPLODE of a MAP makes two columns, of anything else one. With names for both it is incremental."""
    view = lab.view(f"exploded_{name}", EXPLODED[name])
    result = view.refresh()
    assert result.fallback.reason is Reason.SQL_NOT_UNDERSTOOD
    assert "name all columns of EXPLODE" in result.fallback.detail
    view.check()
