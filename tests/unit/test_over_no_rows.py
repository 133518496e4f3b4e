"""Subqueries for which only Spark knows the value over empty input or the result of IN."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read, refusal

UNKNOWN = (
    "bitmap_count(bitmap_construct_agg(bitmap_bit_position(a)))",
    "hex(bitmap_or_agg(unhex('01')))",
)
KNOWN = (
    "count(*)",
    "sum(a)",
    "count_if(a > 1)",
    "size(collect_list(a))",
    "size(collect_set(a))",
    "size(array_agg(a))",
    "every(a > 1)",
    "some(a > 1)",
    "bool_and(a > 1)",
    "bool_or(a > 1)",
    "regr_count(a, b)",
    "mode(a)",
    "listagg(s)",
    "mode() within group (order by a)",
)


@pytest.mark.parametrize("value", UNKNOWN)
def test_a_value_over_no_rows_that_is_not_known(value):
    detail = "its value over empty input is not known"
    assert_refused(
        f"select k, (select {value} from s where s.k = r.k) as x from r",
        Reason.OPERATOR_NOT_SUPPORTED,
        detail,
    )
    assert_refused(
        f"select r.k, l.x from r, lateral (select {value} as x from s where s.k = r.k) as l",
        Reason.OPERATOR_NOT_SUPPORTED,
        detail,
    )
    read(f"select {value} as x from s")


@pytest.mark.parametrize("value", KNOWN)
def test_a_value_over_no_rows_that_is_known(value):
    read(f"select k, (select {value} from s where s.k = r.k) as x from r")


@pytest.mark.parametrize(
    "constant",
    [
        "null",
        "cast(null as int)",
        "nullif(1, 1)",
        "try_cast('a' as int)",
        "cast('a' as int)",
        "get(array(1), 5)",
        "case when 1 = 2 then k end",
        "if(false, k, null)",
        "k + null",
        "coalesce(null, 1 / 0)",
    ],
)
def test_in_of_a_constant_that_may_be_null(constant):
    detail = "IN of a constant that may be NULL"
    for text in ("{x} in (select k from s)", "{x} not in (select k from s)"):
        for query in (
            f"select k from r where ({text.format(x=constant)}) is null",
            f"select {text.format(x='x')} as found from (select {constant} as x from r)",
            f"select {text.format(x='x')} as found from (select k as x from r union all select {constant} from r)",
            f"with c as (select {constant} as x from r) select {text.format(x='x')} as found from c, s",
        ):
            assert_refused(query, Reason.OPERATOR_NOT_SUPPORTED, detail)


@pytest.mark.parametrize("join", ["left join", "right join", "full join", "left semi join", "left anti join"])
def test_not_in_within_on(join):
    detail = "NOT IN with a subquery in ON of an outer or semi join"
    first, other = ("r", "s") if join == "right join" else ("s", "r")
    refused = [
        f"{other}.a not in (select b from t)",
        f"({other}.k > 1 or not ({first}.a in (select b from t)))",
        f"{first}.a + {other}.a not in (select b from t)",
    ]
    tested_first = [
        f"{first}.a not in (select b from t where t.b > {first}.a)",
        f"({first}.k > 1 or not ({first}.a in (select b from t)))",
    ]
    for condition in (*refused, *(tested_first if join == "full join" else ())):
        query = f"select 1 as one from r {join} s on r.k = s.k and {condition}"
        assert_refused(query, Reason.OPERATOR_NOT_SUPPORTED, detail)
    for condition in tested_first if join != "full join" else ():
        read(f"select 1 as one from r {join} s on r.k = s.k and {condition}")
    read(f"select 1 as one from r {join} s on r.k = s.k and r.a in (select b from t)")
    read(f"select 1 as one from r {join} s on r.k = s.k and not exists (select 1 from t where t.b = r.a)")


def test_within_on_of_an_inner_join_it_is_what_it_is_in_where():
    for condition in (
        "r.a not in (select b from t)",
        "r.a + s.a not in (select b from t)",
        "exists (select 1 from t where t.a = r.a and t.b = s.b)",
    ):
        join = "select 1 as one from r join s on r.k = s.k"
        assert str(read(f"{join} and {condition}")) == str(read(f"{join} where {condition}"))


def test_lateral_function_without_a_condition():
    detail = "LEFT JOIN LATERAL of a table function without a condition"
    for on in ("", " on true"):
        query = f"select r.k, g.e from r left join lateral explode(array(a, b)) as g(e){on}"
        assert_refused(query, Reason.OPERATOR_NOT_SUPPORTED, detail)
    read("select r.k, g.e from r left join lateral explode(array(a, b)) as g(e) on g.e > 1")
    read("select r.k, g.e from r join lateral explode(array(a, b)) as g(e)")
    read("select r.k, g.e from r lateral view outer explode(array(a, b)) g as e")


@pytest.mark.parametrize(
    "join", ["right join", "full join", "left semi join", "left anti join", "natural join", "join"]
)
def test_joins_without_a_lateral_form(join):
    condition = {"natural join": "", "join": "using (a)"}.get(join, "on l.a = 1")
    sql = f"select r.k from r {join} lateral (select s.a from s where s.k = r.k) as l {condition}"
    assert_refused(sql, Reason.OPERATOR_NOT_SUPPORTED, f"{join.upper()} LATERAL")


@pytest.mark.parametrize(
    "sql",
    [
        "select * from values ((select 1))",
        "select x from r lateral view explode(array((select a from s))) g as x",
        "select * from (select k, a from r) pivot (sum((select 1)) for a in (1))",
    ],
)
def test_where_there_is_no_row_to_join_a_subquery_to(sql):
    assert_refused(sql, Reason.OPERATOR_NOT_SUPPORTED, "a subquery in this expression")


@pytest.mark.parametrize(
    "query",
    [
        "select s.a in (select b from s) as found from r left join s on false",
        "select s.a in (select b from s) as found from r left join (select * from s where 1 = 2) as s on r.k = s.k",
        "select s.a in (select b from s) as found from s full join (select * from r limit 0) as r on r.k = s.k and 1 = 2",
    ],
)
def test_in_of_the_padding_of_a_join_that_has_no_matches(query):
    assert_refused(query, Reason.OPERATOR_NOT_SUPPORTED, "IN of a constant that may be NULL")


@pytest.mark.parametrize(
    "value",
    [
        "1",
        "-1",
        "k",
        "k + 1",
        "coalesce(k, null, 1)",
        "coalesce(k, 1)",
        "nullif(k, 1)",
        "case when k > 1 then k end",
        "case when k > 1 then k else null end",
        "if(k > 1, 1, null)",
        "case when k > 1 then null else 1 end",
        "if(k > 1, null, 1)",
        "cast(1 as bigint)",
        "-(1 + 1)",
        "from_json(s, 'y int').y",
    ],
)
def test_in_of_a_value_that_is_no_constant_null(value):
    read(f"select {value} in (select k from s) as found from r")
    read(f"select x in (select k from s) as found from (select {value} as x from r)")


@pytest.mark.parametrize(
    "query",
    [
        "select k from f where not found",
        "select k from f where found = false or k > 1",
        "select k from f where found <> true",
        "select not found as missing from f",
        "select if(not found, 1, 0) as missing from f",
        "select k, count_if(not found) as missing from f group by k",
        "select found, count(*) as n from f group by found having not found",
        "select f.k from f join s on f.k = s.k and not f.found",
        "select k from (select * from f union all select k, true from s) where not found",
        "select k from r where exists (select 1 from f where f.k = r.k and not (found and r.k > 1))",
        "select k, a in (select b from s) as found, not found as missing from r",
        "select not (a in (select b from s)) as missing from r group by a in (select b from s)",
        "select (a not in (select b from s)) = (k > 1) as same from r",
        "select (case when k > 1 then a in (select b from s) else false end) = false as missing from r",
        "select not if(k > 1, found, false) as missing from f",
        "select k from (select k, case when k > 1 then found end as found from f) where found = false",
    ],
)
def test_not_of_the_result_of_in(query):
    if " from f" in query or " join f" in query:
        query = f"with f as (select k, a in (select b from s) as found from r) {query}"
        assert_refused(query, Reason.OPERATOR_NOT_SUPPORTED, "NOT of the result of IN")
    else:
        refusal(query)


@pytest.mark.parametrize(
    "query",
    [
        "select k, found, missing from f where found or missing",
        "select k from f where found = true and missing is not false",
        "select if(found, 1, 0) as x, coalesce(missing, true) as y from f",
        "select found, count(*) as n from f group by found having found",
        "select k from f where not there",
        "select case when k > 1 then found else missing end as x from f",
        "select not case when found then k > 1 else k > 2 end as x from f",
    ],
)
def test_the_result_of_in_without_not(query):
    read(
        "with f as (select k, a in (select b from s) as found, a not in (select b from s) as missing, "
        f"exists (select 1 from s where s.b = r.a) as there from r) {query}"
    )


def test_a_comparison_with_another_condition_is_no_not():
    """Where IN is unknown it stays FALSE."""
    found = "a in (select b from s)"
    for sql in (f"({found}) = (k > 1)", f"(k > 1) <> ({found})"):
        one, other = (read(f"select {item} as x from r").root.children for item in (sql, found))
        assert str(one) == str(other)


def test_parentheses_around_a_condition_say_nothing():
    for condition in ("exists (select 1 from s where s.k = r.k)", "a in (select b from s)"):
        for one, other in (("(({}))", "{}"), ("not (({}))", "not {}"), ("not (not ({}))", "{}")):
            mine, same = (read(f"select k from r where {form.format(condition)}") for form in (one, other))
            assert str(mine) == str(same)


def test_in_of_several_or_of_text():
    read("select k from r where 1 in (select k from s) or (null, k) in (select a, k from s)")
    read("select k from r where ((k, a)) in (select k, a from s) and ((k)) not in (select k from s)")
