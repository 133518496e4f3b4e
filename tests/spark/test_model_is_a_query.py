"""Models that are not queries: checking them runs nothing and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.explain.explain_view import explain_view
from sparkivm.refresh.model.model_query import columns_query
from sparkivm.refresh.operations.consistency import consistency_sql
from tests.hostile_models import BREAKOUTS, COMMANDS
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def lab(spark):
    lab = Lab(spark, "shop")
    lab.table("t", "id int", "(1)", "(2)")
    lab.table("log", "id int", "(7)")
    lab.view("m", "select id from t").build()
    yield lab
    lab.run("drop schema shop cascade")


@pytest.fixture(params=[False, True], ids=["session", "by_sql"])
def engine(request, lab, spark):
    engine = PlainEngine(spark, by_sql=request.param)
    engine.session.sql("use shop")
    return engine


def all_there_is(lab: Lab, engine: PlainEngine) -> list[Any]:
    """Everything that a command could have changed."""
    found: list[Any] = []
    for session in (lab.session, engine.session):
        names = sorted(row.tableName for row in session.sql("show tables in shop").collect())
        found += [names, session.sql("select current_schema()").collect()]
        found.append(sorted(row.function for row in session.sql("show user functions").collect()))
        found.append(session.catalog.isCached("shop.t"))
    found.append({name: lab.version(name) for name in ("t", "log", "m__ivm")})
    found.append(lab.rows("select id from log"))
    found.append(engine.settings(["sparkivm.made"]))
    found.append(str(engine.session.sql("describe extended shop.log").collect()))
    return found


def asked(view: View, engine: PlainEngine) -> dict[str, Callable[[], object]]:
    """Everything that reads a model's text."""
    declared, name, sql = view.request.declared, view.request.view, view.request.sql
    return {
        "refresh": lambda: view.refresh(),
        "refresh of a new view": lambda: view.lab.view("n", sql).refresh(),
        "empty": lambda: view.lab.view("n", sql).refresh(empty=True),
        "explain": lambda: explain_view(engine, view.request),
        "contract": lambda: columns_query(engine, name, sql, declared),
        "consistency": lambda: consistency_sql(engine, view.request),
    }


def test_no_command_runs_wherever_a_model_is_looked_at(lab, engine):
    mine = lab.another()
    mine.engine = engine
    before = all_there_is(lab, engine)
    wrong = {}
    for kind, sql in (COMMANDS | BREAKOUTS).items():
        for what, ask in asked(mine.view("m", sql), engine).items():
            try:
                wrong[kind, what] = ask()
            except ModelError as error:
                placed = error.place is not None or kind in ("comment", "continued_comment")
                if not placed or ("describe query" in str(error) and "describe" not in sql):
                    wrong[kind, what] = error
    assert not wrong
    assert all_there_is(lab, engine) == before


def test_no_command_runs_in_an_analysis(lab, engine):
    """Spark's parser refuses them too, even if our own check of the model lets them pass."""
    before = all_there_is(lab, engine)
    wrong = {}
    positions = {}
    for kind, sql in (COMMANDS | BREAKOUTS).items():
        if kind == "continued_comment":  # Spark reads it as a query, but not if text follows it
            continue
        for ask in (engine.check_query, engine.schema_of, engine.analyzed_plan):
            try:
                wrong[kind, ask.__name__] = ask(sql)
            except EngineError as error:
                positions[kind, ask.__name__] = error.position
    assert not wrong
    assert all_there_is(lab, engine) == before
    assert positions["from_insert", "check_query"] == (1, 13)
    assert positions["from_insert_overwrite", "check_query"] == (2, 1)


QUERIES = (
    "select id from shop.t",
    "from shop.t",
    "from shop.t select id where id > 1",
    "table shop.t",
    "(select id from shop.t)",
    "values (1), (2)",
    "with x as (select 1 as id) select * from x",
    "from shop.t |> where id > 1",
    "select id from shop.t -- a comment that goes on \\\n, nope",
    "select 1 as extended, 2 as query, 3 as id",
)


def test_queries_of_every_form_are_analysed(engine):
    for sql in QUERIES:
        assert len(engine.schema_of(sql)) == sql.count(" as ") or engine.schema_of(sql)[0].name in (
            "id",
            "col1",
        )
        engine.check_query(sql)
        assert engine.analyzed_plan(sql)


def test_the_place_of_an_error_is_that_in_the_model(lab, engine):
    mine = lab.another()
    mine.engine = engine
    with pytest.raises(ModelError) as refused:
        mine.view("m", "-- one\nselect id,\n  nope from shop.t").refresh()
    assert refused.value.place is not None
    assert (refused.value.place.line, refused.value.place.column) == (3, 3)
    assert refused.value.place.text == "nope from shop.t"
