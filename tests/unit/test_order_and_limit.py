"""Which column ORDER BY means, and where LIMIT leaves no choice between rows."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from sparkivm.spark_sql.relations import select_text
from tests.fuzz.embedded import Sources
from tests.reading import read, refusal

ONE_ROW = (
    "select count(*) as n from r limit 1",
    "select n + 1 as n from (select sum(a) as n from r having sum(a) > 1) limit 1",
    "select * from (select sum(a) as x from r) p, (select max(b) as y from s) q limit 100",
    "select * from (select sum(a) as x from r) p left join (select max(b) as y from s) q on x = y limit 100",
    "select x from (select count(*) as x from r limit 1) where x > 1",
)
MORE_ROWS = (
    "select a from r limit 1",
    "select a, count(*) as n from r group by a limit 1",
    "select count(*) as n from r union all select count(*) from s limit 1",
    "select x from (select sum(a) as x from r) p left join s on s.a = x limit 1",
    "select count(*) as n from r limit 1 offset 1",
    "select k from r where a in ((select a from s) limit 1)",
    "select k from r order by ((select max(a) from s) offset 1)",
)


@pytest.mark.parametrize("sql", ONE_ROW)
def test_a_limit_of_a_single_row_takes_it(sql):
    found = read(sql)
    assert (found.limit, found.offset, found.sort) == (None, None, ())


def test_order_by_all_is_by_all_columns():
    assert [(key.column, key.descending) for key in read("select a, k from r order by all desc").sort] == [
        ("a", True),
        ("k", True),
    ]
    assert len(read("select a from r union select k from r order by all").sort) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "select a from r limit 0",
        "select a, k from r order by k limit 0 offset 2",
        "select count(*) as n from r limit 0",
        "select k, ((select max(a) from s) limit 0) as m from r",
        "select k from r where a in (select a from s limit 0)",
        "select k from r union all (select a from s limit 0)",
        "select k from r where exists (select 1 from s where s.k = r.k limit 0)",
    ],
)
def test_no_rows_are_known(sql):
    found = read(sql)
    assert (found.limit, found.offset, found.sort) == (None, None, ())


@pytest.mark.parametrize("sql", MORE_ROWS)
def test_another_limit_without_order_takes_any_rows(sql):
    assert refusal(sql).reason is Reason.NON_DETERMINISTIC_EXPRESSION


@pytest.mark.parametrize(
    "sql",
    [
        "select k, sum(a) as a from r group by k order by a",
        "select k, -a as a from r order by a desc",
        "select distinct k, b + 1 as a from r order by a",
    ],
)
def test_order_by_a_name_means_the_output_column(sql):
    found = read(sql)
    assert [key.column for key in found.sort] == [found.output[1]]


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        ("select k, -a as a from r order by a + 1", "(-`a`) + 1"),
        (
            "select k, upper(s) as s, count(*) as n from r group by k, upper(s) order by upper(s)",
            "UPPER(`s_2`)",
        ),
        ("select -a as a, k from r order by A * k", "(-`a`) * `k`"),
    ],
)
def test_order_by_an_expression_means_output_columns(sql, key):
    found = read(sql)
    assert (
        key.lower() in str(found.root).lower()
        or key.lower() in dict(found.root.items)[found.sort[0].column].sql("spark").lower()
    )


HAVING_FROM = ("coalesce(k, 9) as k, count(*) as n from r group by k having k > 1",)
HAVING_OUTPUT = (
    "k, sum(a) as a from r group by k having a > 3",
    "coalesce(k, 9) as k, count(*) as n from r group by coalesce(k, 9) having k > 1",
)
HAVING_UNCLEAR = (
    "-k as k, count(*) as n from r group by -k having -k > 1",
    "-k as k, count(*) as n from r group by 1 having abs(-k) > 1",
    "k > 1 as k, count(*) as n from r group by k > 1 having k > 1",
    "-k as k, count(*) as n from r group by rollup (k) having k > 1",
)


@pytest.mark.parametrize("sql", [*HAVING_FROM, *HAVING_OUTPUT])
def test_having_means_output_columns_but_keys_of_from(sql):
    read(f"select {sql}")


@pytest.mark.parametrize("sql", HAVING_UNCLEAR)
def test_having_that_may_name_a_key(sql):
    assert "both a column and another expression's alias" in refusal(f"select {sql}").detail


@pytest.mark.parametrize(
    "sql",
    [
        "select k, sum(a) as t from r group by k having t > 1",
        "select a + 1 as x from r order by x * 2",
        "select k, a as x, count(*) as n from r group by k, x having x + n > 1",
    ],
)
def test_aliases_that_no_column_has(sql):
    assert read(sql).output


def test_what_sorts_is_kept_beside_one_column_under_two_names():
    found = read("select k, k as j from r order by a, k desc")
    assert len(set(found.output)) == 2
    assert set(found.root.columns) == {*found.output, "a"}
    assert [key.column for key in found.sort] == ["a", "k"]


def test_ties_below_a_limit_are_broken_by_the_other_columns():
    root = read("select k from (select a, b, k from r order by k limit 2)").root
    assert "order by q1.`k` asc nulls first, q1.`a`, q1.`b`)" in select_text(root, Sources(0))


def test_a_union_is_ordered_by_expressions_over_its_output():
    found = read("select a, k from r union select a, k from s order by -a desc, 2, k + 1, -a limit 3")
    assert len(found.output) == 2
    assert [key.column for key in found.sort] == ["sort_key", "k_2", "sort_key_2", "sort_key"]
    assert set(found.root.columns) == {*found.output, "sort_key", "sort_key_2"}


@pytest.mark.parametrize("key", ["sum(a)", "row_number() over (order by a)", "r.a", "(select 1)"])
def test_what_a_union_is_not_ordered_by(key):
    refusal(f"select a, k from r union select a, k from s order by {key}")


def test_distinct_of_an_item_in_parentheses():
    found = read("select distinct (a) from r order by a")
    assert [key.column for key in found.sort] == list(found.output)


@pytest.mark.parametrize(
    "sql",
    [
        "select k from r order by (2)",
        "select k, count(*) as n from r group by ((3))",
        "select k from r union select a from s order by 2",
        "select k from r union select a from s order by (0)",
    ],
)
def test_a_position_where_no_column_is(sql):
    assert refusal(sql).reason is Reason.SQL_NOT_UNDERSTOOD


@pytest.mark.parametrize("key", ["b", "a + b", "upper(s)"])
def test_distinct_is_ordered_by_what_it_shows(key):
    found = refusal(f"select distinct a from r order by {key}")
    assert found.detail == "ORDER BY of an expression outside DISTINCT"
    assert read("select distinct a from r order by a + 1").output == ("a",)
