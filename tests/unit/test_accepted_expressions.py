"""Which expressions delta SQL may contain, and that they are printed as Spark reads them."""

from __future__ import annotations

import pytest

from sparkivm.algebra.spark_functions import AGGREGATE_FUNCTIONS, SCALAR_FUNCTIONS
from sparkivm.algebra.spark_text import SparkText
from sparkivm.errors import NotIncremental
from sparkivm.frontend.accepted_expressions import check_accepted, repeatable
from sparkivm.frontend.parse import parse_model
from sparkivm.reasons import Reason
from tests.reading import assert_refused, read

ACCEPTED = """
date_format(d, 'yyyy-MM')
to_date(s, 'yyyy-MM-dd')
to_date(s, 'dd/MM/yyyy')
to_timestamp(s, 'yyyy')
unix_timestamp(s, 'yyyy')
from_unixtime(x, 'yyyy')
get_json_object(s, '$.a[0].b')
split_part(s, ',', 1)
regexp_extract_all(s, 'a')
array_join(a, ',')
sort_array(a)
element_at(a, 1)
map_keys(m)
base64(s)
encode(s, 'utf-8')
date_part('year', d)
timestampdiff(day, d, e)
months_between(d, e)
next_day(d, 'mon')
format_string('%s', s)
width_bucket(x, 1, 2, 3)
try_divide(x, 1)
equal_null(x, y)
shiftleft(x, 1)
from_json(s, 'a int')
s like any ('a', 'b')
s ilike all ('a', 'b')
nvl(s, 'a')
substr(s, 1, 2)
date_sub(d, 1)
x << 1
map('k', 1)['k']
date '2024-01-01'
timestamp '2024-01-01 10:00:00'
timestamp_ntz '2024-01-01 10:00:00'
timestamp_ltz '2024-01-01 10:00:00'
overlay(s placing 'x' from 2)
overlay(s placing 'x' from a + 1 for 2)
transform(a, y -> y + x)
filter(a, (y, i) -> i > y)
exists(a, y -> y is null)
aggregate(a, 0, (acc, y) -> acc + y)
zip_with(a, b, (y, z) -> y + z)
cast(s as struct<x: int, y: array<string>>)
d + interval '1-2' year to month
t - interval '1 02:30' day to minute
""".strip().splitlines()

REFUSED = {
    "rand()": Reason.NON_DETERMINISTIC_EXPRESSION,
    "uuid()": Reason.NON_DETERMINISTIC_EXPRESSION,
    "shuffle(a)": Reason.NON_DETERMINISTIC_EXPRESSION,
    "current_date()": Reason.NON_DETERMINISTIC_EXPRESSION,
    "unix_timestamp()": Reason.NON_DETERMINISTIC_EXPRESSION,
    "to_unix_timestamp()": Reason.NON_DETERMINISTIC_EXPRESSION,
    "date 'today'": Reason.NON_DETERMINISTIC_EXPRESSION,
    "timestamp ' Now'": Reason.NON_DETERMINISTIC_EXPRESSION,
    "date_add(date 'yesterday', 1)": Reason.NON_DETERMINISTIC_EXPRESSION,
    "timestamp '08:00:00'": Reason.NON_DETERMINISTIC_EXPRESSION,
    "cast(r'today' as date)": Reason.NON_DETERMINISTIC_EXPRESSION,
    "try_cast('T8:30' as timestamp)": Reason.NON_DETERMINISTIC_EXPRESSION,
    "not any(x)": Reason.EXPRESSION_NOT_SUPPORTED,
    "not all(x)": Reason.EXPRESSION_NOT_SUPPORTED,
    "any(x) = true": Reason.EXPRESSION_NOT_SUPPORTED,
    "any(x) or y": Reason.EXPRESSION_NOT_SUPPORTED,
    "s || any(x)": Reason.EXPRESSION_NOT_SUPPORTED,
    "any(s) like 'a'": Reason.EXPRESSION_NOT_SUPPORTED,
    "my_udf(x)": Reason.EXPRESSION_NOT_SUPPORTED,
    "my_udf(a, y -> y + 1)": Reason.EXPRESSION_NOT_SUPPORTED,
}


# sqlglot parses these into its own nodes and checks the number of arguments.
AS_SQLGLOT_READS = {"transform", "overlay"}


@pytest.mark.parametrize("name", sorted((SCALAR_FUNCTIONS | AGGREGATE_FUNCTIONS) - AS_SQLGLOT_READS))
def test_a_function_is_read_word_for_word(name):
    assert parsed(f"{name}(x, 1)").sql(dialect=SparkText).lower() == f"select {name}(x, 1) as c from t"


def parsed(text: str):
    return parse_model("model", f"select {text} as c from t")


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted(text):
    tree = parsed(text)
    check_accepted(tree.selects[0])
    assert repeatable(tree)
    printed = tree.sql(dialect=SparkText)
    assert printed.lower() == f"select {text} as c from t".lower()


@pytest.mark.parametrize(
    "text", ["s = 'today'", "'today' = s", "upper('now')", "cast('now' as string)", "s >= '08:00'"]
)
def test_a_text_that_could_be_a_date(text):
    """Whether Spark reads it as one is asked later. A view that is not incremental is computed each time."""
    tree = parsed(text)
    check_accepted(tree.selects[0])
    assert not repeatable(tree)


def test_transform_between_backticks():
    """Elsewhere it is a keyword, and may start a clause."""
    check_accepted(parsed("`transform`(a, y -> y + x)").selects[0])


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(NotIncremental) as refusal:
        check_accepted(parsed(text).selects[0])
    assert refusal.value.fallback.reason is REFUSED[text]


@pytest.mark.parametrize("word", ["any", "all"])
def test_a_quantified_subquery_is_no_scalar_subquery(word):
    sql = f"select a > {word} (select a from s) as x from r"
    assert_refused(sql, Reason.EXPRESSION_NOT_SUPPORTED, "write EXISTS or NOT EXISTS")


def test_the_time_of_the_refresh_is_the_default_of_some_functions():
    for name in ("unix_timestamp", "to_unix_timestamp"):
        assert not repeatable(parsed(f"{name}()"))
        assert repeatable(parsed(f"{name}(s)"))


@pytest.mark.parametrize("text", [text for text, reason in REFUSED.items() if "NON" in reason.name])
def test_not_repeatable(text):
    assert not repeatable(parsed(text))


@pytest.mark.parametrize(
    "text",
    [
        "count(*)",
        "sum(a) filter (where a > 1 and b < 2 or c)",
        "rank() over (order by a)",
        "mode(a)",
        "not (a and b)",
    ],
)
def test_repeatable_though_no_scalar(text):
    """The no-op check also needs this answer for queries that are not incremental."""
    assert repeatable(parsed(text))


def test_a_function_that_is_not_known_is_not_repeatable():
    assert not repeatable(parsed("of_the_user(a)"))


@pytest.mark.parametrize(
    "call",
    [
        "range(3) as t(x)",
        *(
            call.format(outer)
            for outer in ("", "_outer")
            for call in (
                "explode{}(array(1, 2)) as t(x)",
                "posexplode{}(array(1, 2)) as t(i, x)",
                "inline{}(array(struct(1 as x))) as t(x)",
                "json_tuple{}('{{}}', 'x') as t(x)",
                "stack{}(2, 1, 2) as t(x)",
            )
        ),
    ],
)
def test_table_functions(call):
    sql = f"select x from {call}"
    assert read(sql).output
    assert repeatable(parse_model("model", sql))


def test_a_table_function_of_the_user():
    sql = "select x from of_the_user(3) as t(x)"
    assert_refused(sql, Reason.OPERATOR_NOT_SUPPORTED, "a table function in FROM")
    assert not repeatable(parse_model("model", sql))


def test_a_program_is_not_repeatable():
    assert not repeatable(parse_model("model", "select transform (a) using 'cat' as (x) from t"))


@pytest.mark.parametrize(
    "call",
    [
        "percentile_cont(rand()) within group (order by a)",
        "percentile_cont(0.5) within group (order by a + rand())",
        "sum(a) filter (where rand() > 1)",
        "sum(a) filter (where rand() > 1) over (order by k)",
        "lag(a, cast(rand() as int)) over (order by k)",
        "lead(a, 1, rand()) over (order by k)",
    ],
)
def test_all_that_an_aggregate_is_given_is_looked_at(call):
    assert_refused(
        f"select {call} as x from r", Reason.NON_DETERMINISTIC_EXPRESSION, "rand returns a different value"
    )


@pytest.mark.parametrize("name", ["user", "CURRENT_SCHEMA", "localtimestamp"])
def test_a_name_that_may_be_a_function(name):
    """Without a table name it is a function if FROM has no such column; the parser takes it for a column."""
    assert not repeatable(parsed(f"upper({name})"))
    assert repeatable(parsed(f"upper(t.{name})"))


@pytest.mark.parametrize(
    "text",
    [
        "cast(s as string collate utf8_lcase)",
        "cast(array(s) as array<string collate unicode_ci>)",
        "s collate utf8_binary_rtrim",
        "collate(s, 'utf8_lcase') = 'x'",
    ],
)
def test_a_collation_makes_different_texts_equal(text):
    """The name of the collation is no column."""
    assert_refused(f"select {text} as x from r", Reason.TYPE_NOT_SUPPORTED, "a collation makes")
    assert_refused(
        f"select count(*) as n from r group by {text}", Reason.TYPE_NOT_SUPPORTED, "a collation makes"
    )
