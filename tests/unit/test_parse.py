"""What is refused before the text is analyzed."""

from types import SimpleNamespace

import pytest
import sqlglot.parser

from sparkivm.engine import Field
from sparkivm.errors import ModelError, NotIncremental
from sparkivm.frontend.parse import not_too_deep, parse_model, statement_extent
from sparkivm.reasons import Place
from tests.reading import read, refusal


def test_the_compiled_build_of_sqlglot_is_refused_by_name(monkeypatch):
    parse_model("m", "select 1 as a")
    monkeypatch.setattr(sqlglot.parser, "__file__", "sqlglot/parser.cpython-311-x86_64-linux-gnu.so")
    with pytest.raises(ModelError, match="compiled build") as refused:
        parse_model("m", "select 1 as a")
    assert "pip uninstall sqlglotc" in str(refused.value)


def test_a_query_that_is_nested_too_deeply():
    sql = "r"
    for number in range(400):
        sql = f"(select k, max(a) as a from {sql} as q{number} group by k)"
    with pytest.raises(NotIncremental, match="nested too deeply"), not_too_deep():
        read(f"select k, a from {sql}")


def test_views_that_are_nested_too_deeply():
    class OneView:
        def lookup(self, parts, namespace):
            fields = (Field("k", "int"),)
            return SimpleNamespace(
                kind="view", key="v", view_text="select k from v", fields=fields, view_namespace=()
            )

    assert refusal("select k from v", OneView()).detail == "in the view v: views are nested more than 40 deep"


@pytest.mark.parametrize(
    ("sql", "place"),
    [("select 'a", None), ("select (a from r", Place(1, 14, "from")), ("select\n  ]", Place(2, 3, "]"))],
)
def test_where_the_parser_stops(sql, place):
    """Spark may read what it does not; where it cannot find the end of a text, it knows no place."""
    with pytest.raises(NotIncremental) as refused:
        parse_model("m", sql)
    assert refused.value.fallback.place == place


@pytest.mark.parametrize("end", [";", ";;", "; ; -- the end", "; /* the end */ ;"])
def test_semicolons_at_the_end_are_no_statements(end):
    assert parse_model("model", f"select a from r{end}") == parse_model("model", "select a from r")


@pytest.mark.parametrize(
    "call",
    [
        *(f"{name}({{}}, d, d)" for name in ("timestampdiff", "datediff", "date_diff")),
        *(f"{name}({{}}, 1, d)" for name in ("timestampadd", "date_add")),
    ],
)
def test_a_unit_is_no_column(call):
    sql = f"select {call} as x from (select d, k as day, a as {{}} from r)"
    (_, unit), *_ = read(sql.format("day", "other")).root.items
    (_, column), *_ = read(sql.format("other", "other")).root.items
    assert unit.columns == {"d"}
    assert column.columns == {"d", "a"}


@pytest.mark.parametrize("call", ["date_add(day, 1)", "datediff(day, d)"])
def test_of_two_arguments_none_is_a_unit(call):
    one, other = (
        f"select {text} as x from (select s as {name}, d from r)"
        for text, name in ((call, "day"), (call.replace("day", "x"), "x"))
    )
    assert str(read(one)) == str(read(other))


def test_parentheses_around_a_query_say_nothing():
    query = read("((select k from r order by a))")
    assert [key.column for key in query.sort] == ["a"]
    assert read("(with x as (select a from r) (select * from x))").output == ("a",)


@pytest.mark.parametrize("end", ["distribute by a", "limit all", "order by a"])
def test_a_with_in_front_of_parentheses_stays(end):
    assert read(f"with x as (select a from r) (select * from x) {end}").root.tables == {"r"}


@pytest.mark.parametrize(
    "comments",
    ["/* a * b */ " * 40, "/* a /* b */ c */", "-- a\n" * 400, "/*" + "*/ /*" * 40 + "*/", " " * 10_000],
)
def test_a_statement_between_comments(comments):
    """However many comments there are, and wherever they are, the statement's ends are found quickly."""
    sql = f"select 1 {comments} as a"
    text = f"\ufeff{comments}{sql} {comments};{comments}"
    assert text[slice(*statement_extent("model", text))] == sql
    with pytest.raises(ModelError, match="no SELECT"):
        statement_extent("model", comments)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("-128Y", "CAST(-128 AS TINYINT)"),
        ("-9223372036854775808L", "CAST(-9223372036854775808 AS BIGINT)"),
        ("coalesce(x, - 32768S)", "COALESCE(x, CAST(-32768 AS SMALLINT))"),
        ("5 - 128Y", "5 - CAST(128 AS TINYINT)"),
        ("-x::bigint", "-CAST(x AS BIGINT)"),
        ("-'5'::bigint", "-CAST('5' AS BIGINT)"),
        ("-1.5D", "-CAST(1.5 AS DOUBLE)"),
    ],
)
def test_the_least_number_of_a_type_keeps_its_sign(text, printed):
    (item,) = parse_model("m", f"select {text}").expressions
    assert item.sql("spark") == printed
