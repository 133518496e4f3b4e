"""Column names that FROM compares or outputs: cases where they are unknown or ambiguous."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read


@pytest.mark.parametrize(
    ("sql", "detail"),
    [
        ("select * from r natural join (select k, upper(s) from s)", "without a name"),
        ("select * from (select k, a + 1 from r) natural left join s", "without a name"),
        ("select to_json(struct(*)) as j from (select k, a + 1 from r)", "without a name"),
        ("select expression_2 from (select k, a + 1 from r)", "no column"),
        ("select x from (select k, (s).x from r)", "no column"),
        ("select k from r natural join (select k, a as A from s)", "differ only in case"),
        ("select k from (select k, a as k from r) as x join s using (k)", "has twice"),
        ("select k from r as x join s using (nothing)", "lacks"),
        ("select x.a from r as x join s as x using (b)", "ambiguous"),
        ("select * from values (struct(1, 2))", "one struct"),
        ("select * from values 1, struct(1)", "one struct"),
        ("select * from values ((1, 2)), (((3, 4)))", "one struct"),
    ],
)
def test_what_is_refused(sql, detail):
    assert_refused(sql, Reason.SQL_NOT_UNDERSTOOD, detail)


@pytest.mark.parametrize(
    "sql",
    [
        "select k from (select s as user, k from r) as x where exists (select 1 from s where s.s = user)",
        "select s as user, upper(user) as u from r",
        "select k, Current_Schema from r",
    ],
)
def test_functions_without_parentheses_come_before_aliases_and_outer_columns(sql):
    assert_refused(sql, Reason.NON_DETERMINISTIC_EXPRESSION, "Spark takes it for a function")
    assert read("select user from (select s as user from r)").output


@pytest.mark.parametrize(
    ("join", "column"), [("left join", "k"), ("right join", "k_2"), ("full join", "k_3")]
)
def test_using_shows_the_column_of_the_side_that_is_kept(join, column):
    assert read(f"select k from r {join} s using (k)").output == (column,)


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("cast(s as int)", "s_2"),
        ("int(s)", "s_2"),
        ("int(upper(s))", "expression_1"),
        ("cast(x.y as int)", "expression_1"),
        ("base64(s)", "expression_1"),
        ("bin(s)", "expression_1"),
        ("x.y", "y"),
    ],
)
def test_the_name_of_an_item_without_an_alias(item, name):
    assert read(f"select {item} from (select s, from_json(s, 'y int') as x from r)").output == (name,)


def test_the_name_of_an_alias_of_a_cast():
    assert read("select cast(a as string) as x, x from r").output == ("x", "x_2")


@pytest.mark.parametrize(
    ("call", "names"),
    [
        ("explode(array(a, b))", ("col",)),
        ("explode(map(a, b))", ("key", "value")),
        ("posexplode(sequence(1, a))", ("pos", "col")),
        ("stack(2, a, b, k)", ("col0", "col1")),
        ("json_tuple(s, 'x', 'y')", ("c0", "c1")),
        ("explode(from_json(s, 'x struct<y: map<string, int>>').x.y)", ("key", "value")),
    ],
)
def test_names_of_what_is_made_of_a_value(call, names):
    assert read(f"select {call} from r").output == names


def test_explode_outer_keeps_a_row_for_which_it_makes_none():
    outer = "select x from r lateral view outer explode(array(a)) g as x"
    for sql in (
        "select explode_outer(array(a)) as x from r",
        "select x from r lateral view explode_outer(array(a)) g as x",
    ):
        assert str(read(sql)) == str(read(outer))
        assert str(read(sql.replace("_outer", ""))) != str(read(outer))


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("range(3)", ("id",)),
        ("range(3) as t (x)", ("x",)),
        ("range(9, 1, -3)", ("id",)),
        ("explode(array(1, 2))", ("col",)),
        ("explode(array(1, 2)) as t (x)", ("x",)),
        ("inline(array(struct(1 as p, 2)))", ("p", "col2")),
        ("inline(array(named_struct('p', 1, 'q', 2), named_struct('p', 3, 'q', 4)))", ("p", "q")),
    ],
)
def test_names_of_what_a_table_function_makes(table, names):
    assert read(f"select * from {table}").output == names


@pytest.mark.parametrize(
    ("item", "detail"),
    [
        ("* from range(- -3)", "RANGE of anything but integer literals"),
        ("* from range(1 + 1)", "RANGE of anything but integer literals"),
        ("* from range(3, 3)", "RANGE over an empty interval"),
        ("* from lower('a')", "a table function in FROM"),
        ("stack(0, a) from r", "stack without names for its columns"),
        ("stack(a, b, k) from r", "stack without names for its columns"),
        ("inline(array_repeat(struct(1 as x), 2)) from r", "inline without names for its columns"),
        ("struct(a, b) as (x, y) from r", "several aliases of one expression"),
        ("inline(array(named_struct(s, b))) from r", "inline without names for its columns"),
        ("inline(array(if(a > 1, struct(a), struct(b)))) from r", "inline without names for its columns"),
        ("inline(array()) from r", "inline without names for its columns"),
        ("* from range(10000001)", "RANGE of more than 10,000,000 numbers"),
    ],
)
def test_rows_that_are_not_made(item, detail):
    assert_refused(f"select {item}", Reason.OPERATOR_NOT_SUPPORTED, detail)


def test_a_generator_without_arguments():
    assert_refused("select json_tuple() from r", Reason.SQL_NOT_UNDERSTOOD, "json_tuple without arguments")


@pytest.mark.parametrize("row", ["(struct(1, 2), 3)", "(named_struct('a', 1), 3)"])
def test_structs_among_the_columns_of_values(row):
    assert read(f"select * from values {row}").output == ("col1", "col2")


@pytest.mark.parametrize("item", ["cast(k as string)", "string((k))", "k::string", "try_cast(k as string)"])
def test_a_cast_of_a_column_is_called_like_it(item):
    """So ORDER BY finds it under the column's name."""
    query = read(f"select {item} from r order by k limit 2")
    assert [key.column for key in query.sort] == list(query.output)


def test_a_key_by_its_position_is_called_like_its_item():
    query = read("select a + 1 as x, b + 1 as y, count(*) as n from r group by 1, 2")
    assert query.output[:2] == ("x", "y")


def test_a_subquery_sees_the_columns_of_a_relation_without_a_name():
    assert read("select (select max(s.a) + x from s) as m from (select k as x from r)").output
    assert read(
        "select (select max(z) + k from (select a as z from t)) as m from r full join s using (k)"
    ).output
