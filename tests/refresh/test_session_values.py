"""A session's values are substituted into a model's text, but not into our own statements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkivm.changes.source_declaration import NOTHING_DECLARED
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources
from tests.fake_engine.lake import View as PublicView
from tests.refresh.conftest import BY_K
from tests.refresh.lab import Lab, View

MIXED = "select id, '${my.day}' as d from t"


def refused_view(lab: Lab, sql: str) -> View:
    """A view that is built, but has no plan: Spark reads its text in another way."""
    lab.engine.reads_as[sql] = "Project [another#1]"
    view = lab.view("v", sql)
    assert view.refresh().mode == "create"
    return view


def test_another_value_is_another_query(lab):
    lab.engine.set({"my.day": "monday"})
    view = lab.view("v", MIXED.replace("'${my.day}'", "lower('${my.day}')"))
    assert view.refresh().mode == "create"
    assert view.refresh().mode == "no_op"
    lab.engine.set({"my.day": "tuesday"})
    result = view.refresh()
    assert (result.mode, result.fallback and result.fallback.reason) == ("full", Reason.QUERY_CHANGED)
    assert {d for _, d in view.content()} == {"tuesday"}
    lab.run("insert into t values (4, 3, 8)")
    assert view.refresh().mode == "incremental"
    assert {d for _, d in view.content()} == {"tuesday"}


def test_another_value_of_a_column_is_another_public_view(lab):
    lab.engine.set({"my.day": "monday"})
    view = lab.view("v", MIXED)
    view.refresh()
    lab.engine.set({"my.day": "tuesday"})
    assert len(view.refresh().statements) == 1
    assert {d for _, d in view.content()} == {"tuesday"}


def test_a_text_without_a_value_is_left_as_it_is(lab):
    view = lab.view("v", MIXED)
    view.refresh()
    assert {d for _, d in view.content()} == {"${my.day}"}


def test_our_own_statements_take_no_values(lab: Lab):
    """A comment is stored as written."""
    lab.engine.set({"my.day": "monday"})
    lab.view("v", BY_K, comment="of ${my.day}").build()
    found = lab.lake.relations["shop.v"]
    assert isinstance(found, PublicView)
    assert found.comment == "of ${my.day}"


def test_a_function_of_a_user(lab):
    """A change of its body is not visible, so every run computes the view."""
    lab.lake.database.connection.execute("create or replace macro rate(a) as a * 2")
    lab.lake.functions.add("rate")
    view = lab.view("v", "select id, rate(x) as r from t")
    assert view.refresh().mode == "create"
    result = view.refresh()
    assert result.mode == "full"
    assert result.fallback is not None


def test_a_function_of_spark_that_somebody_replaced(lab):
    """Its name does not identify its body."""
    lab.lake.functions.add("sum")
    view = lab.view("v", BY_K)
    view.must_be("create", Reason.EXPRESSION_NOT_SUPPORTED)
    view.must_be("full", Reason.EXPRESSION_NOT_SUPPORTED)
    assert lab.rows(view.consistency_sql()) == []
    lab.lake.functions.clear()
    view.must_be("full", Reason.QUERY_CHANGED)
    view.must_be("no_op")


def test_a_function_of_spark_that_somebody_replaced_below_a_refused_view(lab):
    """A view that is rebuilt at each change of a source also has to notice this."""
    view = refused_view(lab, "select abs(k) as k from t")
    view.must_be("no_op")
    lab.lake.functions.add("abs")
    assert view.refresh().mode == "full"


def test_a_temporary_view_is_looked_at_each_time(lab):
    """Each session of a run may have its own by this name."""
    sources = Sources(RecordingEngine(lab.engine), Pins(), NOTHING_DECLARED, "shop", DELTA_STATES)
    for text in ("select 1 as k", "select 2 as k"):
        lab.engine.execute(f"create or replace temporary view w as {text}")
        assert sources.facts(TableName("", "w")).view_text == text


def test_all_tables_of_a_refused_view_are_looked_at(lab):
    """Also those behind the place at which it was refused."""
    lab.table("u", "k int", "(7)")
    view = lab.view(
        "v", "select k from (select k from t where k = 2 limit 1) as one union all select k from u"
    )
    view.must_be("create", Reason.NON_DETERMINISTIC_EXPRESSION)
    view.must_be("no_op")
    lab.run("insert into u values (8)")
    view.must_be("full", Reason.NON_DETERMINISTIC_EXPRESSION)


def test_a_refused_view_over_a_plain_view(lab):
    lab.run("create view w as select k, x from t")
    view = refused_view(lab, "select k from w")
    view.must_be("no_op")
    lab.run("create or replace view w as select k + 1 as k, x from t")
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)


def test_a_refused_view_over_a_plain_view_that_reads_with_other_settings(lab):
    """Its text alone does not say what it shows, so every run computes the view."""
    lab.run("create view w as select k, x from t")
    found = lab.lake.relations["shop.w"]
    assert isinstance(found, PublicView)
    lab.lake.relations["shop.w"] = replace(found, settings={"spark.sql.session.timeZone": "Asia/Tokyo"})
    view = refused_view(lab, "select k from w")
    assert view.refresh().mode == "full"


def test_a_refused_view_over_a_plain_view_with_a_value_of_the_session(lab):
    """Spark may insert another value when it reads the view."""
    lab.run("create view w as select k, x from t where k is not null or '${my.day}' = 'monday'")
    view = refused_view(lab, "select k from w")
    assert view.refresh().mode == "full"


def test_a_refused_view_over_a_plain_view_with_a_collation(lab, monkeypatch):
    describe = lab.engine.describe

    def collated(name):
        facts = describe(name)
        return replace(facts, view_collation="UTF8_LCASE") if facts and name.identifier == "w" else facts

    lab.run("create view w as select k, x from t")
    monkeypatch.setattr(lab.engine, "describe", collated)
    view = refused_view(lab, "select k from w")
    assert view.refresh().mode == "full"


def test_a_text_that_spark_reads_as_a_date(lab):
    """Also where a plain view has it; such a view is computed by each run."""
    lab.engine.moving.add("yesterday")
    lab.run("create view w as select k from t where cast(k as string) <> 'yesterday'")
    direct = lab.view("v", "select k from t where cast(k as string) <> 'yesterday'")
    direct.must_be("create", Reason.NON_DETERMINISTIC_EXPRESSION)
    direct.must_be("full", Reason.NON_DETERMINISTIC_EXPRESSION)
    over_view = lab.view("v2", "select k from w")
    over_view.must_be("create", Reason.SQL_NOT_UNDERSTOOD)
    over_view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)


def test_a_name_that_only_spark_knows(lab):
    """We know neither its value nor when it changes."""
    view = lab.view("v", "select k, current_role as r from t")
    view.must_be("create", Reason.SQL_NOT_UNDERSTOOD)
    view.must_be("full", Reason.SQL_NOT_UNDERSTOOD)


@pytest.mark.parametrize(("length", "reason"), [(None, None), (3, Reason.SQL_NOT_UNDERSTOOD)])
def test_what_char_is_compared_as_matters_where_there_is_one(lab, length, reason):
    lab.table("c", "id int, name string", "(1, 'abc')")
    table = lab.delta("c")
    id_, name = table.newest.fields
    table.change(table.newest.number, fields=(id_, replace(name, char_length=length)))
    lab.engine.set({"spark.sql.readSideCharPadding": "false"})
    lab.view("v", "select id, name from c").must_be("create", reason)


@pytest.mark.parametrize("schema", ["shop", "other"])
def test_names_without_a_schema_are_of_the_current_one(lab, schema):
    lab.run("create table other.t using delta as select 7 as id, 7 as k, 7 as x")
    view = lab.view("v", "select id, x from t").build()
    lab.engine.session.schema = schema
    result = view.refresh()
    assert result.mode == ("no_op" if schema == "shop" else "full")
    assert view.content() == ([(1, 1), (2, 2), (3, 4)] if schema == "shop" else [(7, 7)])


def test_a_plain_view_that_spark_reads_with_a_default(lab):
    """It was created without the setting that this session has."""
    lab.run("create view w as select k, x from t")
    lab.engine.session.settings["spark.sql.parser.escapedStringLiterals"] = "true"
    view = lab.view("v", "select k, x from w")
    view.must_be("create", Reason.SQL_NOT_UNDERSTOOD)
    lab.engine.session.settings["spark.sql.parser.escapedStringLiterals"] = "false"
    view.must_be("full", Reason.CONFIG_CHANGED)
    lab.run("insert into t values (9, 9, 9)")
    view.must_be("incremental")
