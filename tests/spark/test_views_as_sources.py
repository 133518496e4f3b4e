"""Views that read views: incremental views through their state's feed, plain views through their text."""

from __future__ import annotations

import pytest

from sparkivm.names import TableName
from sparkivm.reasons import Reason
from tests.plain_engine import PlainEngine
from tests.spark.lab import FEED, Lab
from tests.spark.saved_tables import SavedTables
from tests.spark.state_sizes import take_states_for

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    lab = Lab(spark, "views_as_sources")
    lab.table(
        "t", "id int, k int, x decimal(10,2)", "(1, 1, 1.5)", "(2, 1, 2.5)", "(3, 2, 4)", "(4, null, 1)"
    )
    lab.table("names", "k int, name string", "(1, 'one')", "(2, 'two')")
    return SavedTables(lab, tmp_path_factory.mktemp("views_as_sources"))


@pytest.fixture
def lab(spark, saved) -> Lab:
    lab = Lab(spark, "views_as_sources")
    saved.put_into(lab)
    return lab


CHANGES = (
    ("insert into t values (5, 2, 8), (6, 3, 1)", "insert into names values (3, 'three')"),
    (
        "update t set k = 3 where id = 1",
        "update names set name = 'zwei' where k = 2",
        "delete from t where id = 4",
    ),
    ("delete from t where k = 3",),
)


def test_chain_of_three(lab):
    views = [
        lab.view(
            "lines", "select t.id, n.name, t.x from t left join names n on t.k = n.k where t.x > 1"
        ).build(),
        lab.view(
            "sums", "select name, sum(x) as s, count(*) as n, max(x) as most from lines group by name"
        ).build(),
        lab.view(
            "sizes", "select n, count(*) as names, sum(s) as s from sums group by n having count(*) > 0"
        ).build(),
    ]
    for statements in CHANGES:
        lab.run(*statements)
        for view in views:
            view.must_be("incremental")
    assert [view.must_be("no_op").mode for view in views] == ["no_op"] * 3


def test_diamond(lab):
    top = lab.view("top", "select k, sum(x) as s from t group by k").build()
    left = lab.view("left_side", "select k, s * 2 as s from top where s > 1").build()
    right = lab.view("right_side", "select n.name, top.s from names n left join top on n.k = top.k").build()
    bottom = lab.view(
        "bottom", "select l.k, l.s, r.name from left_side l join right_side r on l.s = 2 * r.s"
    ).build()
    for statements in CHANGES[:2]:
        lab.run(*statements)
        for view in (top, left, right, bottom):
            view.must_be("incremental")


def test_view_over_a_view_that_was_rebuilt(lab):
    """Its state is then another table; the refresh compares it with the previous one."""
    sums = lab.view("sums", "select k, sum(x) as s from t group by k").build()
    total = lab.view("total", "select count(*) as n, sum(s) as s from sums").build()
    lab.run("insert into t values (7, 7, 7)")
    sums.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    total.must_be("incremental")


def test_view_over_a_view_whose_size_crosses_the_limit_for_entries(lab, monkeypatch):
    """Whether the public view adds up entries is fixed at creation, so that views over it stay valid."""
    take_states_for("large", monkeypatch)
    sums = lab.view("sums", "select k, sum(x) as s from t group by k").build()
    total = lab.view("total", "select count(*) as n, sum(s) as s from sums").build()
    take_states_for("small", monkeypatch)
    lab.run("insert into t values (7, 7, 7)")
    assert sums.must_be("incremental").apply_form == "rewrite"
    total.must_be("incremental")
    lab.run("insert into t values (8, 8, 8)")
    sums.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)  # its public view is replaced
    assert "views_as_sources.sums, which it reads" in str(
        total.must_be("full", Reason.QUERY_CHANGED).fallback
    )
    lab.run("insert into t values (9, 9, 9)")
    assert sums.must_be("incremental").apply_form == "append"
    total.must_be("incremental")


def test_view_whose_meaning_changed_below(lab):
    sums = lab.view("sums", "select k, sum(x) as s from t group by k").build()
    total = lab.view("total", "select count(*) as n, sum(s) as s from sums").build()
    sums = lab.view("sums", "select k, sum(x) as s from t where k is not null group by k")
    sums.must_be("full", Reason.QUERY_CHANGED)
    result = total.refresh()
    assert result.mode in ("incremental", "full")
    total.check()


def test_plain_view(lab):
    lab.run("create view big as select k, x from t where x > 2")
    view = lab.view("m", "select k, count(*) as n from big group by k").build()
    lab.run("insert into t values (5, 2, 8), (6, 3, 1)")
    view.must_be("incremental")
    lab.run("create or replace view big as select k, x from t where x > 1")
    view.must_be("full", Reason.QUERY_CHANGED)
    lab.run("create or replace view big as select k, x from   t where x > 1 -- the same")
    assert view.must_be("no_op").explanation == "no row of a source changed"


def test_plain_view_of_a_star(lab):
    """Spark finds the view's columns by name, wherever they are in the table."""
    lab.run("create view everything as select * from t")
    view = lab.view("m", "select k, sum(x) as s, max(id) as i from everything group by k").build()
    lab.run("insert into t values (5, 2, 8)")
    view.must_be("incremental")
    lab.run("alter table t add columns (more int)", "insert into t values (6, 2, 8, 1)")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)
    lab.run(f"create or replace table t using delta {FEED} as select k, id, x from t")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)
    rows = lab.view("n", "select id, k from everything")
    rows.refresh()
    rows.check()


def test_plain_view_with_the_same_text_and_other_names(lab):
    lab.run("create view pairs (a, b) as select id, k from t")
    view = lab.view("m", "select a, count(b) as n from pairs group by a").build()
    lab.run("create or replace view pairs (b, a) as select id, k from t")
    view.must_be("full", Reason.SOURCE_SCHEMA_CHANGED)


def test_plain_view_over_views(lab):
    lab.view("sums", "select k, sum(x) as s from t group by k").build()
    lab.run("create view named (id, total) as select n.name, sums.s from names n join sums on n.k = sums.k")
    view = lab.view("m", "select id, total from named where total > 1").build()
    lab.run("insert into t values (5, 2, 8)", "delete from names where k = 1")
    lab.view("sums", "select k, sum(x) as s from t group by k").must_be("incremental")
    view.must_be("incremental")


def test_plain_view_that_spark_reads_otherwise(lab):
    """The parser rewrites pipes, and prints something else."""
    lab.run(
        "create view piped as from t |> order by id |> limit 3 |> where k > 1 |> select id, k",
        "create view bits as select id, id | k & 6 as x from t",
    )
    for name in ("piped", "bits"):
        view = lab.view(f"over_{name}", f"select * from {name}")
        view.must_be("create", Reason.SQL_NOT_UNDERSTOOD)
        lab.run("insert into t values (0, 7, 1)")
        view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)


def test_plain_view_that_casts(lab):
    """In Spark a view keeps the types with which it was created."""
    widening = FEED[:-1] + ", 'delta.enableTypeWidening' = 'true')"
    lab.table("wide", "id int, v decimal(10,2)", "(1, 1.25)", clauses=widening)
    lab.run("create view narrow as select id, v from wide")
    view = lab.view("m", "select count(*) as n, cast(sum(v) as double) as s from narrow").build()
    lab.run("alter table wide alter column v type decimal(12,4)", "insert into wide values (2, 1.2345)")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)
    lab.run("insert into wide values (3, 1.1111)")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)


def test_plain_view_of_another_session(lab):
    """Spark reads its text under the settings with which it was created."""
    lab.run("set spark.sql.session.timeZone = Asia/Tokyo")
    lab.run(
        "create view days as select id, cast(to_timestamp('2024-01-01 00:00:00Z') + make_interval(0, 0, 0, 0, k) as date) as day from t"
    )
    view = lab.view("m", "select day, count(*) as n from days group by day")
    assert "spark.sql.session.timeZone = Asia/Tokyo" in str(
        view.must_be("create", Reason.SQL_NOT_UNDERSTOOD).fallback
    )
    lab.run("insert into t values (0, 20, 1)")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)
    lab.run(
        "reset spark.sql.session.timeZone",
        "alter view days as select id, cast('2024-01-01' as date) + k as day from t",
    )
    assert view.refresh().mode == "full"
    view.check()
    lab.run("insert into t values (0, 21, 1)")
    view.must_be("incremental")


def test_a_view_with_a_default_collation(spark, lab):
    """Its literals and casts have the collation, which its text does not show."""
    lab.run(
        "create view lower_case default collation UTF8_LCASE as "
        "select k, name from names where cast(k as string) || 'X' in ('1x', '2X')"
    )
    assert len(lab.rows("select * from lower_case")) == 2
    view = lab.view("m", "select k, count(*) as n from lower_case group by k")
    result = view.refresh()
    assert result.fallback.reason is Reason.SQL_NOT_UNDERSTOOD
    assert "default collation is UTF8_LCASE" in result.fallback.detail
    view.check()
    by_sql = PlainEngine(spark, by_sql=True)
    assert by_sql.describe(TableName(lab.schema, "lower_case")).view_collation == "UTF8_LCASE"


@pytest.mark.parametrize(("kind", "name"), [("", "passing"), ("global", "global_temp.passing")])
def test_temporary_view(lab, kind, name):
    lab.engine.session.sql(f"create or replace {kind} temporary view passing as select 1 as k")
    result = lab.view("m", f"select * from {name}").refresh()
    assert result.mode == "create"
    assert result.fallback.reason is Reason.SOURCE_NOT_SUPPORTED
