"""A model's text must be one query. It includes the session's values; other texts fail before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from dbt.adapters.sparkivm.sql_catalog import SqlCatalog

from sparkivm.changes.frontier import Frontier
from sparkivm.digest import digest
from sparkivm.engine import EngineError, as_written, is_as_written
from sparkivm.errors import ModelError
from sparkivm.frontend.parse import parse_model, statement_extent
from sparkivm.names import TableName
from sparkivm.reasons import Place
from sparkivm.refresh.model.model_query import check_is_query, columns_query, query_text
from tests.hostile_models import BREAKOUTS, COMMANDS

MODEL = TableName("s", "m")


class Session:
    """An engine with only session features: settings, and a parser that stops at a word."""

    def __init__(self, values: dict[str, str] | None = None, stops_at: str = "") -> None:
        self.values, self.stops_at = values or {}, stops_at
        self.checked: list[str] = []
        self.substitutes = "true"
        self.seen: list[str] = []

    def substituted(self, sql: str) -> str:
        for name, value in self.values.items():
            sql = sql.replace("${" + name + "}", value)
        return sql

    def check_query(self, sql: str) -> None:
        self.checked.append(sql)
        if self.stops_at and self.stops_at in sql:
            line = sql.partition(self.stops_at)[0].count("\n")
            position = sql.split("\n")[line].index(self.stops_at)
            raise EngineError(
                f"[PARSE_SYNTAX_ERROR] Syntax error at or near '{self.stops_at}'. SQLSTATE: 42601 (line {line + 2}, pos {position})",
                lines_before=1,
            )

    def settings(self, names: Sequence[str]) -> dict[str, str]:
        return dict.fromkeys(names, self.substitutes)

    def set(self, settings: dict[str, str]) -> None:
        self.substitutes = next(iter(settings.values()), self.substitutes)

    def unset(self, names: Sequence[str]) -> None:
        assert not names


@pytest.mark.parametrize("kind", COMMANDS)
def test_commands_are_refused_from_their_text(kind):
    with pytest.raises(ModelError) as refused:
        statement_extent("m", COMMANDS[kind])
    assert refused.value.place is not None
    place = refused.value.place
    assert COMMANDS[kind].split("\n")[place.line - 1][place.column - 1 :].startswith(place.text)
    with pytest.raises(ModelError):
        parse_model("m", f"-- a comment; of insert into\n{COMMANDS[kind]}  ;; -- more")


@pytest.mark.parametrize(
    ("kind", "line", "column"),
    [("from_insert", 1, 13), ("from_insert_overwrite", 2, 1), ("with_from_insert", 1, 42), ("drop", 1, 1)],
)
def test_the_place_is_that_of_the_command(kind, line, column):
    with pytest.raises(ModelError, match=f"line {line}, column {column}") as refused:
        statement_extent("m", COMMANDS[kind])
    assert "write one SELECT statement" in str(refused.value)


@pytest.mark.parametrize(
    ("sql", "line", "column"),
    [("drop table x", 1, 1), ("-- a comment\n\n  drop table x", 3, 3), ("/* a */ drop table x", 1, 9)],
)
def test_the_place_of_the_first_word(sql, line, column):
    with pytest.raises(ModelError) as refused:
        statement_extent("m", sql)
    assert refused.value.place == Place(line, column, "drop")


def test_a_table_that_begins_with_a_cte():
    with pytest.raises(ModelError, match="the model is a CREATE statement"):
        parse_model("m", "with x as (select 1 as a) create table t as select a from x")


@pytest.mark.parametrize(
    "sql",
    [
        "select insert, `insert` into_ from t",
        "select (a) insert from t",
        "with x as (select 1 as a) select (a) delete from x",
        "with merge (update) as (select 1) select update from merge",
        "with recursive x (a) as (select 1 union all select a + 1 from x where a < 3) select a from x",
        "from t select 'insert into log' as a, insert",
        "from t |> where id > 1 |> select id",
        "select a as insert from t -- insert into",
        "(select 1 as a) union all (select 2)",
        "values (1), (2)",
        "table t",
        "select '; drop table x' as a;",
        "select 1 as a -- a comment that goes on \\\n, 2 as b",
    ],
)
def test_queries_that_look_like_commands_pass(sql):
    assert sql[slice(*statement_extent("m", sql))] == sql.removesuffix(";").removesuffix(" -- insert into")


def test_a_query_is_asked_for_once_for_each_text():
    session: Any = Session()
    check_is_query(session, MODEL, "select 1", None)
    known = Frontier("p", "model.p.m", "s.m", "bag", digest("select 1"), "", {}, {})
    check_is_query(session, MODEL, "select 1", known)
    check_is_query(session, MODEL, "select 2", known)
    assert session.checked == ["select 1", "select 2"]


@pytest.mark.parametrize("kind", BREAKOUTS)
def test_where_spark_stops_to_read_is_the_place(kind):
    """Spark's parser gets the texts unchanged, with nothing of ours around them."""
    session: Any = Session(stops_at=BREAKOUTS[kind].split()[-1])

    def look_at(sql: str) -> None:
        check_is_query(session, MODEL, query_text(session, MODEL, sql), None)

    with pytest.raises(ModelError) as refused:
        look_at(f"-- first\n{BREAKOUTS[kind]} -- last")
    if session.checked:
        place = refused.value.place
        assert place is not None
        assert place.line == 2
        assert session.checked[0].split("\n")[1][place.column - 1 :] == place.text
        assert "pos" not in refused.value.what


def test_values_of_the_session_are_part_of_the_text():
    session: Any = Session({"my.day": "mon", "my.end": "'; drop table x; select '"})
    assert query_text(session, MODEL, "select '${my.day}' as d; -- ${my.day}") == "select 'mon' as d"
    with pytest.raises(ModelError, match="3 statements"):
        query_text(session, MODEL, "select '${my.end}' as d")
    with pytest.raises(ModelError, match="INSERT"):
        query_text(Session({"x": "from t insert into log"}), MODEL, "${x} select 1")  # type: ignore[arg-type]


def test_an_unreadable_value_is_an_error_of_the_model():
    session: Any = Session()

    def substituted(sql: str) -> str:
        raise EngineError("Circular reference")

    session.substituted = substituted
    with pytest.raises(ModelError, match="Circular reference"):
        query_text(session, MODEL, "select '${x}' as d")


def test_statements_of_ours_are_taken_as_they_are_written():
    session: Any = Session()
    with as_written(session, "select 1"):
        assert session.substitutes == "true"

    def fail(sql: str) -> None:
        with as_written(session, sql):
            assert session.substitutes == "false"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail("select '${env:HOME}'")
    assert session.substitutes == "true"


def test_texts_of_views():
    off = {"spark.sql.variable.substitute": "false"}
    assert is_as_written({}, "select 1")
    assert is_as_written(off, "select '${x}'")
    assert not is_as_written({"spark.sql.variable.substitute": "true"}, "select '${x}'")
    assert not is_as_written({}, "select '${x}'")


def test_a_contract_is_compared_with_columns_and_not_with_rows():
    session: Any = Session()
    session.schema_of = lambda sql: Columns[sql]
    assert (
        columns_query(session, MODEL, "select a, `b``c` from t;")
        == "select cast(null as int) as `a`, cast(null as array<struct<x:int>>) as `b``c`"
    )
    with pytest.raises(ModelError, match="two output columns are named"):
        columns_query(session, MODEL, "select a, A from t")


class _Columns(dict[str, Any]):
    def __missing__(self, sql: str) -> Any:
        from sparkivm.engine import Field

        return {
            "select a, `b``c` from t": (Field("a", "int"), Field("b`c", "array<struct<x:int>>")),
            "select a, A from t": (Field("a", "int"), Field("A", "int")),
        }[sql]


Columns = _Columns()


class Server:
    """A thrift server that only knows SET and RESET."""

    def __init__(self, **values: str) -> None:
        self.values = values
        self.ran: list[str] = []

    def run(self, sql: str) -> list[dict[str, str]]:
        self.ran.append(sql)
        if sql.startswith("reset "):
            return []
        key, value = sql.removeprefix("set ").split("=", 1)
        for name, text in self.values.items():
            value = value.replace("${" + name + "}", text)
        if ";" in value:
            raise EngineError("[INVALID_SET_SYNTAX] no semicolons")
        return [{"key": key, "value": value}]


def refuse(sql: str) -> list[dict[str, str]]:
    assert sql.startswith("reset "), sql
    return []


def test_values_over_sql_are_asked_for_by_a_setting_of_ours():
    server = Server(**{"env:HOME": "/home/it's `me`\n", "x": "  > < "})
    catalog = SqlCatalog(refuse, server.run)
    assert catalog.substituted("a ${env:HOME} ${x}${x} ${gone}") == "a /home/it's `me`\n   > <   > <  ${gone}"
    assert len(server.ran) == 3


def test_a_value_that_no_setting_holds_is_refused():
    catalog = SqlCatalog(refuse, Server(x="a;b").run)
    with pytest.raises(EngineError, match=r"cannot read the value of \$\{x\}"):
        catalog.substituted("select '${x}'")
