"""Inner aggregates that a view keeps as views of their own."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import urlparse

import pytest

from sparkivm.engine import EngineError, Row
from sparkivm.errors import ModelError
from sparkivm.explain.explain_view import explain_view
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.consistency import consistency_sql
from sparkivm.refresh.run import rebuild
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.stored.stored_state import read_state
from tests.nightly import few_of
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View
from tests.spark.saved_tables import SavedTables
from tests.spark.shop import TABLES, change, open_shop
from tests.spark.state_sizes import SIZES, take_states_for

pytestmark = pytest.mark.spark

QUERIES = {
    "correlated": "select o.id, o.amount from orders o where o.amount > (select avg(i.amount) from orders i "
    "where i.customer = o.customer)",
    "joined": "select c.name, t.total, t.n from customers c join (select customer, sum(amount) as total, "
    "count(*) as n from orders group by customer having count(*) > 1) t on t.customer = c.id",
    "left_joined": "select c.region, count(*) as n, max(t.n) as m from customers c left join (select customer, "
    "count(note) as n from orders group by customer) t on t.customer = c.id group by c.region",
    "grouped_twice": "select n, count(*) as customers from (select customer, count(*) as n from orders group by "
    "customer) group by n",
    "two": "select a.customer, a.total, b.n from (select customer, sum(amount) as total from orders group by "
    "customer) a full join (select order_id, sum(n) as n from items group by order_id) b on a.customer = b.order_id",
    "distinct": "select note, count(distinct customer) as c, sum(amount) as s from orders group by note",
    "topped": "select customer, sum(qty) as q from orders group by customer having sum(qty) >= (select max(q) from "
    "(select customer, sum(qty) as q from orders group by customer))",
}

ORDER = "insert into orders (id, customer, amount) values (60, 1, 3)"  # of a customer with others


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    lab = Lab(spark, "auxiliaries")
    open_shop(lab)
    always(lab, "v", QUERIES["joined"]).build()
    return SavedTables(lab, tmp_path_factory.mktemp("auxiliaries"))


@pytest.fixture
def lab(spark, saved) -> Lab:
    lab = Lab(spark, "auxiliaries")
    saved.put_into(lab, *TABLES)
    return lab


@pytest.fixture
def view(lab, saved) -> View:
    """One that was built, with its auxiliary view."""
    saved.put_into(lab, *(name for name in saved.names if name not in TABLES))
    return always(lab, "v", QUERIES["joined"])


def always(lab: Lab, name: str, sql: str, **options) -> View:
    return lab.view(name, sql, auxiliary_views="always", **options)


def auxiliary_query(view: View) -> str:
    stored = read_state(view.lab.engine, view.request)
    assert stored.frontier is not None
    return stored.frontier.auxiliaries[0]


def kept(lab: Lab) -> list[str]:
    """Tables and views that auxiliary views are, or are stored in."""
    names = (row.tableName for row in lab.rows(f"show tables in {lab.schema}"))
    return sorted(name for name in names if "__ivm_aux_" in name)


@pytest.mark.parametrize("either_spark", few_of(["true", "false"], ["true"]), indirect=True)
@pytest.mark.parametrize(
    ("name", "size"), few_of(itertools.product(QUERIES, SIZES), [("grouped_twice", "small")])
)
def test_a_view_stays_equal(either_spark, name, size, monkeypatch):
    take_states_for(size, monkeypatch)
    lab = Lab(either_spark, "auxiliaries_by_batch")
    open_shop(lab)
    view = always(lab, "v", QUERIES[name]).build()
    assert kept(lab)
    for batch in range(4):
        change(lab, batch)
        view.must_be("incremental")
    assert view.must_be("no_op").statements == ()


def test_a_refresh_reads_no_table_for_the_inner_groups(lab):
    view = always(lab, "v", QUERIES["grouped_twice"]).build()
    lab.run("insert into orders (id, customer) values (50, 1), (51, 77)")
    lab.engine.ran.clear()
    result = view.must_be("incremental")
    assert result.strategies["v__ivm_aux_1"] == "auxiliary view, refreshed first"
    assert not [sql for sql in lab.engine.ran if "`orders` version as of" in sql]


@pytest.mark.nightly
def test_a_small_state_is_computed_again_from_them(lab, view):
    lab.run("insert into orders (id, customer, amount) values (50, 1, 70), (51, 2, 90)")
    result = view.must_be("incremental", refresh_mode="auto")
    assert result.apply_form == "recompute"
    assert "s to recompute" in result.explanation
    assert "__ivm_w" not in result.statements[-1]  # it reads no changes


@pytest.mark.nightly
def test_explain_shows_the_view_and_its_query(lab, view):
    text = explain_view(lab.engine, view.request)
    assert "auxiliary view auxiliaries.v__ivm_aux_1, refreshed first" in text
    assert "next refresh: no_op" in text


@pytest.mark.nightly
def test_a_query_without_them_drops_them(lab):
    view = always(lab, "v", QUERIES["two"]).build()
    assert len(kept(lab)) == 4
    view = always(lab, "v", QUERIES["joined"])
    view.must_be("full", Reason.QUERY_CHANGED)
    assert kept(lab) == ["v__ivm_aux_1", "v__ivm_aux_1__ivm"]
    lab.run(ORDER)
    view.must_be("incremental")
    lab.run(ORDER)
    view.must_be("full", Reason.CONFIG_CHANGED, auxiliary_views="never")
    assert kept(lab) == []


def test_one_that_can_no_longer_be_read_stops_no_other_query(spark):
    lab = Lab(spark, "auxiliaries_of_lost_files")
    open_shop(lab)
    view = always(lab, "v", QUERIES["joined"]).build()
    lab.run("insert into customers values (7, 'Joe', 'eu', 1)", ORDER)
    for row in lab.rows("select distinct _metadata.file_path as path from orders"):
        Path(urlparse(row.path).path).unlink()
    view.with_(sql="select id, name from customers").must_be("full", Reason.QUERY_CHANGED)
    assert kept(lab) == []


class MayNotAlter(PlainEngine):
    """Somebody writes to the table, up to twice, while it tries."""

    def __init__(self, lab: Lab, table: str) -> None:
        super().__init__(lab.session)
        self.session.sql(f"use {lab.schema}")
        self._writes = 2 * [partial(lab.run, f"insert into {table} values (1, 2)")]

    def execute(self, sql: str) -> Sequence[Row]:
        if sql.startswith("alter table") and "enableChangeDataFeed" in sql:
            if self._writes:
                self._writes.pop()()
            raise EngineError("[PERMISSION_DENIED] not allowed")
        return super().execute(sql)


@pytest.mark.nightly
def test_a_source_that_is_seen_anew_between_them(spark):
    lab = Lab(spark, "auxiliaries_of_one_source")
    lab.table("p", "k int, x int", "(1, 1), (2, 1)", clauses="")
    sql = (
        "select a.k, a.s, b.n from (select k, sum(x) as s from p group by k) as a "
        "full join (select x, count(*) as n from p group by x) as b on a.k = b.x"
    )
    view = always(lab, "v", sql)
    lab.engine = MayNotAlter(lab, "p")
    view.build()


@pytest.mark.nightly
def test_a_comment_that_changes_is_the_same_query(lab, view):
    view = view.with_(sql=QUERIES["joined"] + " -- said again")
    view.must_be("no_op")
    assert lab.rows(consistency_sql(lab.engine, view.request)) == []


@pytest.mark.nightly
def test_a_full_refresh_computes_them_anew(lab, view):
    lab.run("delete from v__ivm_aux_1__ivm where true")
    view.must_be("full", Reason.FULL_REFRESH_REQUESTED, full_refresh=True)
    lab.run(ORDER)
    view.must_be("incremental")


@pytest.mark.nightly
def test_one_that_somebody_dropped_or_changed_is_made_again(lab, view):
    lab.run("drop view v__ivm_aux_1", "drop table v__ivm_aux_1__ivm", ORDER)
    assert view.refresh().mode == "full"
    view.check()
    lab.run("delete from v__ivm_aux_1__ivm where true", "insert into orders (id, customer) values (60, 2)")
    view.refresh()
    view.check()


@pytest.mark.nightly
def test_a_view_that_was_left_behind_catches_up(lab):
    """A driver may die after it refreshed the auxiliary view."""
    view = always(lab, "v", QUERIES["correlated"]).build()
    lab.run("insert into orders (id, customer, amount) values (70, 1, 100), (71, 2, 1)")
    auxiliary = lab.view("v__ivm_aux_1", auxiliary_query(view)).with_(
        owner=view.request.owner, auxiliary=True
    )
    assert auxiliary.refresh().mode == "incremental"
    view.must_be("incremental")
    lab.run("update orders set amount = 2 where id = 70")
    auxiliary.refresh()
    lab.run("update orders set amount = 200 where id = 70")
    view.must_be("incremental")


@pytest.mark.nightly
def test_a_run_reads_them_at_its_own_versions(lab):
    """Another driver refreshes while a run still reads older versions of the sources."""
    view = always(lab, "v", QUERIES["correlated"]).build()
    pins = Pins()
    lab.run("insert into orders (id, customer, amount) values (80, 1, 100)")
    other = lab.view("other", "select sum(amount) as s from orders").build()
    other.refresh(pins)
    lab.run("insert into orders (id, customer, amount) values (81, 1, 300)")
    View(lab.another(), view.request).must_be("incremental")
    view.refresh(pins)
    view.check()


@pytest.mark.nightly
def test_one_that_cannot_be_built_is_left_out(lab):
    lab.run("create table v__ivm_aux_1__ivm (x int) using parquet")
    view = always(lab, "v", QUERIES["joined"])
    result = view.must_be("create")
    assert any("dbt-sparkivm did not create" in warning for warning in result.warnings)
    lab.run(ORDER)
    view.must_be("incremental")


@pytest.mark.nightly
def test_a_first_build_that_fails_leaves_none(lab, monkeypatch):
    view = always(lab, "v", QUERIES["joined"])
    select = rebuild._select

    def failing(attempt, compiled):
        lost = "select cast(raise_error('lost') as int) as x"
        return lost if attempt.view == view.request.view else select(attempt, compiled)

    with monkeypatch.context() as patch:
        patch.setattr(rebuild, "_select", failing)
        with pytest.raises(EngineError, match="lost"):
            view.refresh()
    assert kept(lab) == []
    view.must_be("create")
    assert kept(lab)


@pytest.mark.nightly
def test_small_sources_are_read_again(lab):
    lab.view("v", QUERIES["joined"]).build()
    assert kept(lab) == []


@pytest.mark.nightly
def test_strict_keeps_them_too(lab):
    view = always(lab, "v", QUERIES["joined"], refresh_mode="strict").build()
    lab.run(ORDER)
    view.must_be("incremental")
    lab.run("drop table v__ivm_aux_1__ivm")
    lab.run(ORDER)
    with pytest.raises(ModelError):
        view.refresh()


BY_ORDER = {
    "key": "select v, count(*) as n from (select product, sum(f) as v from items group by product) group by v",
    "filter": "select i.n from items i where i.f >= (select avg(f) from items where product is not null)",
    "nested": "select c.id, x.most from customers c join (select product, max(s) as most from (select product, order_id, "
    "sum(f) as s from items group by product, order_id) group by product having max(s) > 0.5) x on c.id < x.most",
    "one_of_ties": "select last, count(*) as n from (select customer, max_by(note, id) as last from orders group by customer) group by last",
}


@pytest.mark.parametrize(
    "shown",
    few_of(
        [
            "sum(i.price) / count(*) as q",
            "sum(i.price) / sum(i.half) as q",
            "count(*) as n",
            "cast(sum(i.price) / 3 as string) as q",
        ],
        ["sum(i.price) / sum(i.half) as q"],
    ),
)
def test_a_sum_that_is_added_up_twice_has_the_type_of_sum(spark, shown):
    """Spark derives the scale of a quotient from the types of its operands."""
    lab = Lab(spark, "auxiliaries_of_sums")
    lab.table("c", "k int, nation string", "(1, 'a')", "(2, 'a')", "(3, 'b')")
    lab.table(
        "i",
        "k int, price decimal(10,2), half decimal(10,2)",
        "(1, 5, 3)",
        "(2, 5, 3)",
        "(1, 0.01, 1)",
        "(3, 1, 7)",
    )
    sql = f"select c.nation, {shown} from c join i on c.k = i.k group by c.nation having sum(i.price) / count(*) > 0.1"
    view = lab.view("v", sql, auxiliary_views="always").build()
    assert kept(lab)
    lab.run("insert into i values (3, 3.33, 1), (2, 1, 1)", "update c set nation = 'b' where k = 2")
    view.must_be("incremental")
    lab.run("drop schema auxiliaries_of_sums cascade")


@pytest.mark.parametrize("name", few_of(BY_ORDER, []))
def test_what_decides_is_stored_if_it_depends_on_the_order_of_rows(spark, name):
    """It might come out otherwise each time it is computed."""
    lab = Lab(spark, "auxiliaries_by_order")
    open_shop(lab)
    view = lab.view("v", BY_ORDER[name]).build()
    alone = lab.view("alone", BY_ORDER[name], auxiliary_views="never")
    assert alone.refresh().fallback.reason is Reason.OPERATOR_NOT_SUPPORTED
    assert kept(lab)
    for batch in range(4):
        change(lab, batch)
        view.must_be("incremental")
    assert alone.refresh().mode == "full"
    alone.check()
