"""SQL that Spark could read differently from the parser is refused, with its place."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read

UNCLEAR = {
    "select a + b as c, sum(k) as s from r group by grouping sets ((a + b), (b + a), (b))": "may be the same as the key",
    "select a + b as c, sum(k) as s from r group by rollup (b + a, a, b)": "`a` + `b` may be the same as the key `b` + `a`",
    "select sum(k) as s from r group by grouping sets ((a > b), (b < a), (b))": "may be the same as the key",
    "select sum(k) as s from r group by grouping sets ((a <= b), (b >= a), (b))": "may be the same as the key",
    "select a > b as c, sum(k) as s from r group by cube ((b < a), a, b)": "may be the same as the key",
    **{
        f"select {other} as c, a, sum(k) as s from r group by cube ({key}, a, b)": "may be the same as the key"
        for key, other in (
            ("a + 1", "1 + a"),
            ("a * 2", "sum(k) + 2 * a"),
            ("a & 1", "1 & a"),
            ("least(a, 1)", "least(1, a)"),
            ("coalesce(a, 0)", "ifnull(a, 0)"),
            ("coalesce(a, b)", "1 + nvl(a, b)"),
            ("cast(a as string)", "string(a)"),
            ("a % 2", "mod(a, 2)"),
            ("a + b", "case when a + b > 1 then b + a end"),
        )
    },
    "select sum(k) as s from r group by grouping sets ((a + 1), (1 + a), (b))": "may be the same as the key",
    "select nvl(a, 0) as c, sum(k) as s from r group by coalesce(a, 0)": "may be the same as the key COALESCE(`a`, 0): write it as in GROUP BY",
    "select a + b + 1 as c, sum(k) as s from r group by a + 1": "b is neither grouped nor aggregated",
    "select * from (select all, a from r) as t (x, y)": "2 names for 1 columns",
    "select max(a) as c from (select a, 1 as all from r) as t group by all": "ALL is the name of a column",
    "select a, b as all from r order by all": "ALL is the name of a column",
    "select * from (select a, b from r) unpivot (v for n in (a as identifier('x'), b))": "as an alias",
    "with c (x, y) as (select a from r) select x from c": "2 names for 1 columns",
    "select grouping(b) as g from r group by cube (a)": "GROUPING of a non-key expression",
    "select grouping_id(a, a + 1) as g from r group by cube (a)": "GROUPING of a non-key expression",
}


@pytest.mark.parametrize(("sql", "detail"), UNCLEAR.items())
def test_unclear_texts_are_refused(sql, detail):
    assert_refused(sql, Reason.SQL_NOT_UNDERSTOOD, detail)


def test_a_key_as_it_is_written_is_found():
    sql = "select a + b as c, (a + b) * 2 as d, sum(k) as s from r group by grouping sets ((a + b), (b))"
    assert len(read(sql).output) == 3


@pytest.mark.parametrize(
    ("sql", "detail"),
    [
        (
            "select * from (select k, a, a as c, b from r) pivot (sum(b) for c in (1 as one))",
            "a and c are the same",
        ),
        (
            "select * from (select k, a, b, b as c from r) pivot (sum(b) for a in (1 as one))",
            "b and c are the same",
        ),
        ("select * from (select k, a, b, a as c from r) unpivot (v for n in (a, b))", "a and c are the same"),
        ("select k from r where b not in ((select b from s where k = 99))", "two pairs of parentheses"),
        ("select b in (((select max(b) from s))) as c from r", "two pairs of parentheses"),
        ("select grouping_id() as g, count(*) as n from r group by (k, a) with rollup", "the tuple (k, a)"),
        ("select grouping_id() as g, count(*) as n from r group by rollup (s), (k, a)", "the tuple (k, a)"),
    ],
)
def test_texts_that_mean_something_else_to_spark(sql, detail):
    assert_refused(sql, Reason.OPERATOR_NOT_SUPPORTED, detail)


@pytest.mark.parametrize(
    "sql",
    [
        "select grouping_id() as g, count(*) as n from r group by rollup ((k, a), b)",
        "select k, k as c, one from (select k, a, b from r) pivot (sum(b) for a in (1 as one))",
        "select * from (select k, k as c, a, b from r) pivot (sum(b) for a in (1 as one))",
        "select a % 4 as q, a % 12 as m, sum(k) as s from r group by rollup (a % 4, a % 12)",
        "select concat(a % 4, '/', a % 12) as q, sum(k) as s from r group by rollup (a % 4, a % 12)",
        "select case when grouping(a + 1) = 1 then -1 else a + 1 end as q, sum(a) + 1 as s from r group by cube (a + 1, b)",
        "select b * 2 as c, max(a + 2) as m from r group by cube (a + 1, b) having max(1 + a) > 2",
        "select a + 1 as c, b + 1 as d, sum(k) as s from r group by cube (a + 1, b)",
    ],
)
def test_keys_that_are_plainly_different(sql):
    assert read(sql).output


def test_a_comment_within_a_key():
    sql = "select case when a > 1 then 'big' /* so far */ else 'small' end as c, count(*) as n from r group by {}"
    assert len(read(sql.format("case when a > 1 then 'big' else 'small' end")).output) == 2
    with_comment, without = (
        read(f"select a + 1 {comment} as c from r").root for comment in ("/* one */", "")
    )
    assert [one.sql("spark") for one in with_comment.scalars] == [one.sql("spark") for one in without.scalars]
