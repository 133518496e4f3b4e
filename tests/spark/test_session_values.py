"""What a model's text takes from the session: `${name}`, variables, the current schema, functions.

Such a view is never stale: the values are part of the state's fingerprint, or each run computes the view.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping

import pytest

from sparkivm.changes.source_declaration import NOTHING_DECLARED
from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.marker import owner_of
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.model.compiled_view import CompiledView, compile_view
from sparkivm.refresh.operations.consistency import consistency_sql
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.sources.sources import Sources
from tests.plain_engine import PlainEngine
from tests.spark.lab import Lab, View

pytestmark = pytest.mark.spark

_NUMBER = itertools.count()


@pytest.fixture(params=[False, True], ids=["session", "by_sql"], scope="module")
def lab(request, spark):
    lab = Lab(spark, f"values_{next(_NUMBER)}")
    lab.engine = PlainEngine(spark, by_sql=request.param)
    lab.engine.session.sql(f"use {lab.schema}")
    lab.session = lab.engine.session  # variables and temporary functions belong to the session
    lab.table("t", "id int, k int, word string", "(1, 1, 'a')", "(2, 1, 'b')", "(3, 2, 'c')")
    yield lab
    for name in ("x", "word_of"):
        lab.run(f"drop temporary variable if exists {name}")
    lab.run(f"use {lab.schema}", f"drop schema {lab.schema} cascade")


def with_a_session_of_its_own(lab: Lab) -> Lab:
    """The same schema with a new session, asked by the same interface."""
    twin = lab.another()
    twin.engine = PlainEngine(lab.session, by_sql=not lab.engine.describes_by_calls)
    twin.session = twin.engine.session
    twin.run(f"use {lab.schema}")
    return twin


def consistent(view: View) -> None:
    """Check with the statement that dbt runs, in the current session."""
    sql = consistency_sql(view.lab.engine, view.request)
    assert view.lab.rows(sql) == []


# ${…}


def test_substituted_values_are_part_of_the_text(lab):
    lab.run("set my.day=mon")
    view = lab.view("m1", "select id, lower('${my.day}') as d, '${env:HOME}' as h from t").build()
    assert {row[1:] for row in view.content()} == {("mon", os.environ["HOME"])}
    view.must_be("no_op")
    consistent(view)
    lab.run("set my.day=tue")
    view.must_be("full", Reason.QUERY_CHANGED)
    lab.run("insert into t values (4, 4, 'd')", "set my.day=wed")
    view.must_be("full", Reason.QUERY_CHANGED)
    assert {row[1] for row in view.content()} == {"wed"}
    lab.run("insert into t values (5, 5, 'e')")
    view.must_be("incremental")
    consistent(view)


@pytest.mark.parametrize("lab", [True], ids=["by_sql"], indirect=True)
@pytest.mark.parametrize("value", ["it\\'s", "a b", " <x> ", "-- c"])
def test_values_come_as_spark_puts_them(lab, value):
    """Asked by SQL. Calls into the JVM have the answer from Spark's own parser, so they are what is compared with."""
    lab.engine.session.conf.set("my.value", value)
    lab.engine.session.conf.set("my.other", "<${my.value}>")
    text = (
        "select '${my.value}${spark:my.value}|${my.other}|${hiveconf:my.value}|${system:user.dir}|${env:NOT_THERE}|"
        "${gone}|$${my.value}|${ my.value}|${spark.sql.session.timeZone}' as v"
    )
    found = lab.engine.substituted(text)
    assert found == PlainEngine.substituted(_by_calls(lab), text)
    assert lab.engine.substituted("select 1") == "select 1"


def _by_calls(lab: Lab) -> PlainEngine:
    """The same session, asked by calls into the JVM."""
    from dbt.adapters.sparkivm.session_catalog import SessionCatalog
    from dbt.adapters.sparkivm.sql_catalog import SqlCatalog

    other = object.__new__(PlainEngine)
    other.connection, other.session = lab.engine.connection, lab.engine.session
    other._metadata = SessionCatalog(other.session, SqlCatalog(other.query, other._query))
    return other


def test_statements_of_ours_are_not_substituted(lab):
    lab.run("set my.day=mon")
    view = lab.view("m4", "select id, k from t", comment="${env:HOME} and ${my.day}").build()
    facts = lab.engine.describe(view.request.view)
    assert facts is not None
    assert facts.comment == "${env:HOME} and ${my.day}"
    view.must_be("no_op")
    lab.run("insert into t values (4, 4, 'd')")
    view.must_be("incremental")
    assert lab.engine.settings(["spark.sql.variable.substitute"])["spark.sql.variable.substitute"] == "true"


def test_a_session_that_substitutes_nothing(lab):
    off = {"spark.sql.variable.substitute": "false"}
    lab.engine.set({**off, "my.day": "mon"})
    view = lab.view("m5", "select k, lower('${my.day}') as d, count(*) as n from t group by k").build()
    assert {row[1] for row in view.content()} == {"${my.day}"}
    lab.engine.set({"spark.sql.variable.substitute": "true"})
    assert {row[1] for row in view.content()} == {"${my.day}"}  # Spark substitutes in the reader's text only
    lab.engine.set(off)
    view.must_be("no_op")
    lab.run("insert into t values (4, 4, 'd')")
    view.must_be("incremental")
    consistent(view)
    lab.engine.set({"spark.sql.variable.substitute": "true"})
    assert "the query was edited" in view.must_be("incremental").explanation


def test_plain_views_with_such_texts(lab):
    off = {"spark.sql.variable.substitute": "false"}
    lab.run("set my.day=mon")
    lab.engine.set(off)
    lab.session.sql("create view literal as select id, '${my.day}' as d from t")
    lab.engine.set({"spark.sql.variable.substitute": "true"})
    view = lab.view("m6", "select id, d from literal").build()
    assert {row[1] for row in view.content()} == {"${my.day}"}
    lab.run("insert into t values (4, 4, 'd')", "set my.day=tue")
    view.must_be("incremental")


# variables


VARIABLES = {
    "select": "select id, x as v from t",
    "qualified": "select id, session.x as v from t",
    "in full": "select id, system.session.x as v from t",
    "where": "select id from t where id <= x",
    "having": "select k, count(*) as n from t group by k having count(*) >= x",
    "limit": "select id from t order by id limit x",
    "offset": "select id from t order by id offset x",
    "order": "select id from t order by id * x limit 2",
    "group": "select k + x as g, count(*) as n from t group by k + x",
    "join": "select a.id from t a join t b on a.id = b.id + x",
    "subquery": "select id from t where id in (select id + x from t)",
    "argument": "select sum(id + x) as s from t",
    "values": "select a from values (x), (7) as v (a)",
    "name": "select id from identifier(word_of)",
    "column": "select identifier(word_of) as c from values (1, 2) as v (t, u)",
    "case": "select case when X > 1 then id end as c from t",
    "schema": "select from_json('{\"t\": 1}', concat(word_of, ' int')) as j from t",
    "refused beside": "select id, x as v, unix_date(current_date()) is null or java_method('java.lang.Math', 'abs', id) = '0' as j from t",
    "unsupported beside": "select k, x as v, listagg(word) within group (order by id) over (partition by k) as l from t",
    "quoted": "select id, `x` + 0 as v from t",
    "pivot": "select * from (select k, id from t) pivot (count(id) for k in (x))",
    "sample": "select id from t tablesample (x rows)",
}


def compiled(lab: Lab, sql: str) -> CompiledView:
    sources = Sources(lab.engine, Pins(), NOTHING_DECLARED, lab.schema, DELTA_STATES, captures=False)
    view = TableName(lab.schema, "m")
    request = RefreshRequest(view, sql, owner_of("p", "model.p.m", view))
    return compile_view(lab.engine, sources, request)


def not_computed_each_time(lab: Lab, texts: Mapping[str, str]) -> dict[str, str]:
    """Those texts that a refresh would not recompute while no source changes. Spark accepts every text."""
    found = {}
    for name, text in texts.items():
        lab.engine.check_query(text)
        view = compiled(lab, text)
        if view.plan is not None or view.complete:
            found[name] = text
    return found


def test_a_view_of_a_variable_is_computed_each_time(lab):
    lab.run("declare or replace x int default 1", "declare or replace word_of string default 't'")
    assert not not_computed_each_time(lab, VARIABLES)


@pytest.mark.parametrize("place", ["select", "name"])
def test_a_view_of_a_variable_is_never_behind(lab, place):
    lab.run("create or replace table u (id int) using delta", "insert into u values (42)")
    lab.run("declare or replace x int default 1", "declare or replace word_of string default 't'")
    view = lab.view(f"of_variable_{place}", VARIABLES[place])
    view.refresh()
    lab.run("set variable x = 2", "set variable word_of = 'u'")
    view.refresh()
    view.check()


SHADOWED = {
    "column": "select id, x from (select id, k as x from t) as q",
    "alias": "select id as x, x + 1 as y from t",
    "alias in group by": "select k as x, count(*) as n from t group by x",
    "alias in having": "select k as x, count(*) as n from t group by k having x > 1",
    "outer column": "select id from (select id, k as x from t) as q where exists (select 1 from t where t.id = x)",
    "parameter": "select id, transform(array(1, 2), x -> x + id) as a from t",
    "table's name": "select session.id from t as session",
}


def test_columns_win_over_variables(lab):
    """So views with such names follow their sources as others do."""
    lab.run("declare or replace x int default 100")
    assert set(not_computed_each_time(lab, SHADOWED)) == set(SHADOWED)
    view = lab.view("shadowed", "select id as x, x + 1 as y from (select id, k as x from t) as q").build()
    lab.run("set variable x = 200")
    view.must_be("no_op")
    lab.run("insert into t values (10, 2, 'z')")
    view.must_be("incremental")


# the current catalog and schema


def test_names_without_a_schema(lab):
    other = f"{lab.schema}_other"
    lab.run(f"create schema {other}", f"create table {other}.t (id int, k int, word string) using delta")
    lab.run(f"insert into {other}.t values (9, 9, 'z')")
    rows = lab.view("m11", "select id, k from t").build()
    both = lab.view("n11", f"select id from {lab.schema}.t").build()
    rows.must_be("no_op")
    lab.run(f"use {other}")
    assert rows.refresh().mode == "full"
    assert lab.rows(f"select id, k from {lab.schema}.m11") == [(9, 9)]
    assert both.refresh().mode == "no_op"
    lab.run(f"use {lab.schema}")
    with pytest.raises(ModelError, match="resolves differently than at the last refresh"):
        consistency_sql(lab.engine, rows.request)
    lab.run(f"use {other}")
    lab.run(f"use {lab.schema}")
    assert rows.refresh().mode == "full"
    rows.check()
    lab.session.sql("create temporary view t as select 77 as id, 7 as k")
    rows.refresh()
    assert lab.rows("select id, k from m11") == [(77, 7)]
    lab.session.sql("drop view t")
    rows.refresh()
    rows.check()
    lab.run(f"drop schema {other} cascade")


def test_another_catalog(lab):
    """Two-part names belong to the current catalog, for us as for Spark."""
    derby = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    url = f"jdbc:derby:memory:{lab.schema};create=true"
    for key, value in {"": derby, ".url": url, ".driver": "org.apache.derby.jdbc.EmbeddedDriver"}.items():
        lab.engine.session.conf.set(f"spark.sql.catalog.other{key}", value)
    view = lab.view("m12", f"select id, k from {lab.schema}.t").build()
    lab.run(f"create namespace other.{lab.schema}", f"create table other.{lab.schema}.t (id int, k int)")
    lab.run(f"insert into other.{lab.schema}.t values (9, 9)")
    assert lab.engine.namespace() == ("spark_catalog", lab.schema)
    lab.run("use other")
    assert lab.engine.namespace()[0] == "other"
    name = TableName(lab.schema, "t")
    facts = lab.engine.describe(name)
    assert facts is not None
    assert (facts.kind, [f.name for f in facts.fields]) == ("other", ["id", "k"])
    assert lab.engine.describe(TableName(lab.schema, "m12__ivm")) is None
    here = lab.engine.describe(TableName(lab.schema, "t", "spark_catalog"))
    assert here is not None
    assert here.kind == "delta"
    with pytest.raises((ModelError, EngineError)):  # a JDBC catalog does not accept Delta tables
        view.refresh()
    lab.run("use spark_catalog", f"use {lab.schema}")
    view.must_be("no_op")


# what depends on the session


def test_functions_of_the_session(lab):
    view = lab.view("m13", "select id, current_schema() as s, current_catalog() as c from t")
    view.refresh()
    view.check()
    other = f"{lab.schema}_other"
    lab.run(f"create schema {other}")
    view = lab.view("m13", f"select id, current_schema() as s, current_catalog() as c from {lab.schema}.t")
    view.refresh()
    lab.run(f"use {other}")
    view.refresh()
    assert {row[1] for row in lab.rows(f"select * from {lab.schema}.m13")} == {other}
    lab.run(f"use {lab.schema}", f"drop schema {other}")


def test_the_time_zone_of_the_machine(lab):
    jvm = lab.engine.session._jvm
    zones = jvm.java.util.TimeZone
    zone = zones.getDefault()
    set_before = lab.engine.session.conf.get("spark.sql.session.timeZone")
    lab.table("at", "id int, at timestamp", "(1, timestamp'2024-01-01 12:00:00 UTC')")
    try:
        lab.engine.session.conf.unset("spark.sql.session.timeZone")
        zones.setDefault(zones.getTimeZone("UTC"))
        view = lab.view("m14", "select id, hour(at) as h from at").build()
        zones.setDefault(zones.getTimeZone("Asia/Tokyo"))
        if lab.value("select current_timezone()") != "UTC":  # Spark may keep the zone that it started with
            view.must_be("full", Reason.CONFIG_CHANGED)
        view.check()
    finally:
        zones.setDefault(zone)
        lab.engine.session.conf.set("spark.sql.session.timeZone", set_before)


# functions


FUNCTIONS = {
    "scalar": (
        "create or replace function f(x int) returns int return x + {}",
        "select id, f(id) as v from t",
    ),
    "qualified": (
        "create or replace function of_schema(x int) returns int return x + {}",
        "select id, {schema}.of_schema(id) as v from t",
    ),
    "temporary": (
        "create or replace temporary function of_session(x int) returns int return x + {}",
        "select id, of_session(id) as v from t",
    ),
    "aggregated": (
        "create or replace function in_sum(x int) returns int return x + {}",
        "select k, sum(in_sum(id)) as v from t group by k",
    ),
    "table": (
        "create or replace function rows_of(x int) returns table (a int) return select id + x + {} from t",
        "select a from rows_of(1)",
    ),
    "named like a class of the parser": (
        "create or replace function quantile(x int, y int) returns int return x + {}",
        "select id, quantile(id, 1) as v from t",
    ),
    "named like an aggregate of others": (
        "create or replace function logical_or(x int) returns int return x + {}",
        "select id, logical_or(id) as v from t",
    ),
    "over a builtin, qualified": (
        "create or replace function abs(x int) returns int return x + {}",
        "select id, {schema}.abs(id) as v from t",
    ),
    "by a subquery": (
        "create or replace function in_subquery(x int) returns int return x + {}",
        "select id from t where id in (select in_subquery(id) from t)",
    ),
}


def test_a_view_of_a_function_is_computed_each_time(lab):
    texts = {}
    for kind, (create, sql) in FUNCTIONS.items():
        lab.run(create.format(1))
        texts[kind] = sql.replace("{schema}", lab.schema)
    assert not not_computed_each_time(lab, texts)


@pytest.mark.parametrize("kind", ["scalar", "temporary", "table"])
def test_a_view_of_a_function_is_never_behind(lab, kind):
    create, sql = FUNCTIONS[kind]
    view = lab.view(f"of_function_{kind}", sql)
    for added in (1, 10):
        lab.run(create.format(added))
        view.refresh()
        view.check()


def test_a_builtin_that_somebody_replaces(lab):
    """The same text then means something else. Only functions of programs can do this, not SQL functions."""
    lab = with_a_session_of_its_own(lab)
    view = lab.view("m18", "select id, upper(word) as w from t").build()
    for tail in ("!", "?"):
        lab.engine.session.udf.register("upper", lambda x, tail=tail: x + tail)
        view.refresh()
        view.check()
    lab.run("insert into t values (9, 1, 'i')")
    view.refresh()
    view.check()


def test_a_session_that_replaced_a_builtin(lab):
    """Our statements may call it, so no view is incremental. Over SQL this cannot be detected."""
    lab = with_a_session_of_its_own(lab)
    sql = "select k, sum(id) as n from t group by k"
    assert compiled(lab, sql).plan is not None
    lab.engine.session.udf.register("sinh", lambda x: x)
    assert (compiled(lab, sql).plan is None) is lab.engine.describes_by_calls


def test_a_function_of_a_schema_is_no_replacement(lab):
    lab.run("create or replace function abs(x int) returns int return 77")
    lab.rows(f"select abs(1), {lab.schema}.abs(1)")
    view = lab.view("m20", "select id, abs(k) as k from t").build()
    lab.run("insert into t values (9, 1, 'i')")
    view.must_be("incremental")


def test_functions_below_functions_and_views(lab):
    lab.run(
        "create or replace function f(x int) returns int return x + 1",
        "create or replace function g(x int) returns int return f(x) + (select count(*) from t)",
        "create view plain as select id, g(id) as v from t",
    )
    direct = lab.view("m21", "select id, g(id) as v from t")
    through = lab.view("n21", "select id, v from plain")
    for statement in (
        "select 1",
        "create or replace function f(x int) returns int return x + 10",
        "insert into t values (8, 8, 'h')",
    ):
        lab.run(statement)
        for view in (direct, through):
            view.refresh()
            view.check()
