"""The views of a run read a source's rows once; after the run nothing stays in memory."""

from __future__ import annotations

import pytest

from sparkivm.engine import EngineError
from sparkivm.refresh.refresh_view import refresh_view
from sparkivm.refresh.sources.pins import Pins
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View
from tests.spark.saved_tables import SavedTables

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# Reads the changes of orders twice, and shops twice.
PAIRS = (
    "select a.id, s.name, b.shop as other from orders a join orders b on a.id = b.id "
    "join shops s on a.shop = s.id left join shops t on t.id = b.shop"
)
SUMS = "select shop, sum(n) as n from orders group by shop"


@pytest.fixture(scope="module")
def saved(spark, tmp_path_factory) -> SavedTables:
    lab = Lab(spark, "run_memory")
    lab.table("orders", "id int, shop int, n int", "(1, 1, 1)", "(1, 1, 1)", "(2, null, 2)", "(null, 2, 3)")
    lab.table("shops", "id int, name string", "(1, 'a')", "(2, 'b')")
    lab.view("pairs", PAIRS).build()
    return SavedTables(lab, tmp_path_factory.mktemp("run_memory"))


@pytest.fixture
def lab(spark, saved) -> Lab:
    lab = Lab(spark, "run_memory")
    saved.put_into(lab)
    return lab


@pytest.fixture
def pairs(lab) -> View:
    """A built view."""
    return lab.view("pairs", PAIRS)


def change(lab: Lab) -> None:
    lab.run("insert into orders values (2, 2, 4)", "update orders set n = 5 where id = 1")


def made_of(statements: tuple[str, ...]) -> list[str]:
    return [text.split()[4].split(".")[-1] for text in statements if text.startswith("create global")]


def kept_now(lab: Lab) -> set[str]:
    return {row.tableName for row in lab.rows("show tables in global_temp")}


def test_views_of_a_run_share_what_they_read(lab, pairs):
    sums = lab.view("sums", SUMS).build()
    change(lab)
    run = Pins()
    first = pairs.refresh(run)
    made = made_of(first.statements)
    assert any("table_changes('`run_memory`.`orders`'" in text for text in first.statements[:-1])
    assert "table_changes" not in first.statements[-1]
    assert set(made) <= kept_now(lab)

    of_another_thread = PlainEngine(lab.session)
    of_another_thread.session.sql(f"use {lab.schema}")
    second = refresh_view(of_another_thread, sums.request, run)
    assert second.mode == "incremental"
    assert made_of(second.statements) == []
    assert any(name in second.statements[-1] for name in made)
    assert "table_changes" not in second.statements[-1]

    run.memory.drop(lab.engine)
    assert not set(made) & kept_now(lab)
    for view in (pairs, sums):
        view.check()
        assert not view.state_differences()


def test_the_next_run_sees_newer_rows(lab, pairs):
    for _ in range(2):
        change(lab)
        lab.run("update shops set name = concat(name, 'x')")
        pairs.must_be("incremental")


def test_a_table_that_was_replaced_is_compared_once(lab, pairs):
    lab.run(
        "create or replace table orders using delta tblproperties (delta.enableChangeDataFeed = true) "
        "as select * from values (1, 1, 1), (2, 2, 9), (3, null, 3) as t (id, shop, n)"
    )
    result = pairs.must_be("incremental")
    assert sum("version as of" in text and "union all" in text for text in result.statements[:-1]) == 1


def test_rows_that_cannot_be_kept_are_read_where_they_are(lab, pairs, monkeypatch):
    """Some clusters do not allow global temporary views."""
    change(lab)
    execute = PlainEngine.execute

    def refuse(self: PlainEngine, sql: str) -> object:
        if sql.startswith("create global"):
            raise EngineError("[UNSUPPORTED] no such views here", "UNSUPPORTED")
        return execute(self, sql)

    monkeypatch.setattr(PlainEngine, "execute", refuse)
    result = pairs.must_be("incremental")
    assert [text for text in result.warnings if "no such views here" in text] == list(result.warnings)
    assert len(result.warnings) == 1


def test_nothing_is_kept_for_one_use(lab):
    sums = lab.view("sums", SUMS).build()
    change(lab)
    assert made_of(sums.must_be("incremental").statements) == []


def test_nan_in_memory(lab):
    """Spark's statistics of rows in memory ignore NaN, which is greater than each number."""
    lab.table("measures", "k int, d double", "(1, 1.0)", "(3, double('NaN'))")
    texts = ("select count(*) as n from measures", "select k, d from measures where d > 5")
    counts, large = (lab.view(f"nan_{i}", text).build() for i, text in enumerate(texts))
    for change in ("insert into measures values (2, double('NaN'))", "delete from measures where k = 3"):
        lab.run(change)
        run = Pins()
        assert counts.refresh(run).mode == large.refresh(run).mode == "incremental"
        assert kept_now(lab)
        large.check()
        run.memory.drop(lab.engine)
    assert [row.k for row in lab.rows(f"select k from {large.name}")] == [2]
