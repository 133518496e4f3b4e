"""CHAR: the plan's text shows the padding that Spark does, and no padding where Spark does none."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sparkivm.engine import Field
from sparkivm.reasons import Reason
from tests.reading import read, refusal

_FIELDS = {
    "t": (Field("c", "string", char_length=3), Field("s", "string"), Field("k", "int")),
    "u": (Field("d", "string", char_length=5), Field("e", "string", char_length=3), Field("j", "int")),
}


class Tables:
    """t with c of type CHAR(3), u with d of type CHAR(5)."""

    def lookup(self, parts, namespace):
        return SimpleNamespace(kind="delta", key=parts[-1], fields=_FIELDS[parts[-1]])


def texts(sql: str) -> str:
    root = read(sql, Tables()).root
    return " ; ".join(scalar.sql("spark") for node in root.walk() for scalar in node.scalars)


@pytest.mark.parametrize(
    ("condition", "padded"),
    [
        ("c = 'a'", "`c` = 'a  '"),
        ("'a' < c", "'a  ' < `c`"),
        ("c = 'abc'", "`c` = 'abc'"),
        ("c <=> ('abcd')", "RPAD(`c`, 4, ' ') IS NOT DISTINCT FROM ('abcd')"),
        ("c is distinct from 'ö'", "'ö  '"),
        ("c in ('a', 'abc', null)", "`c` IN ('a  ', 'abc', NULL)"),
        ("c in (null)", "`c` IN (NULL)"),
        ("c in ('a', 'abcd')", "RPAD(`c`, 4, ' ') IN ('a   ', 'abcd')"),
        ("case c when 'a' then true end", "CASE `c` WHEN 'a  ' THEN TRUE END"),
        ("not (k > 1 or c = 'a')", "`c` = 'a  '"),
        ("(c = 'a') = (s = 'a')", "(`c` = 'a  ') = (`s` = 'a')"),
        # Spark does not pad in these.
        ("s = 'a'", "`s` = 'a'"),
        ("c = s", "`c` = `s`"),
        ("c || '' = 'a'", "`c` || '' = 'a'"),
        ("c = 1", "`c` = 1"),
        ("c is null or c <> null", "`c` <> NULL"),
        ("c between 'a' and 'b'", "`c` BETWEEN 'a' AND 'b'"),
        ("nullif(c, 'a') is null", "NULLIF(`c`, 'a')"),
        ("c like 'a'", "`c` LIKE 'a'"),
        ("coalesce(c, 'a') = 'a'", "COALESCE(`c`, 'a') = 'a'"),
    ],
)
def test_a_comparison_is_written_as_spark_makes_it(condition, padded):
    assert padded in texts(f"select k from t where {condition}")


@pytest.mark.parametrize(
    ("sql", "padded"),
    [
        ("select t.k from t join u on t.c = u.d", "RPAD(`c`, 5, ' ') = `d`"),
        ("select t.k from t left join u on t.k = u.j where d = 'a'", "`d` = 'a    '"),
        ("select x from (select c as x, count(*) as n from t group by c) where x = 'a'", "`c` = 'a  '"),
        ("select c, sum(k) as n from t group by rollup (c, k) having c = 'a'", "= 'a  '"),
        ("select c from (select c from t union all select e from u) as x where c = 'a'", "= 'a  '"),
        ("select max(c) as m from t having max(c) = 'a'", "= 'a'"),
        ("select m from (select max(c) as m from t) where m = 'a'", "`max_c` = 'a'"),
        ("select k from t where exists (select 1 from u where u.d = t.c)", "RPAD(`c`, 5, ' ')"),
        ("select k from t where c in (select e from u)", "`c` = `e`"),
    ],
)
def test_a_column_is_char_as_long_as_it_is_passed_on(sql, padded):
    assert padded in texts(sql)


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("select k from t where c in (select d from u)", "IN of CHAR(3) and CHAR(5)"),
        ("select k from t where 'a' in (select d from u)", "IN of another value and CHAR(5)"),
        ("select k, s in (select d from u) as m from t", "IN of another value and CHAR(5)"),
        ("select c from t union all select d from u", "UNION of CHAR(3) and CHAR(5)"),
        ("select c from t except select s from t", "a set operation of CHAR(3) and another value"),
        (
            "select k from t where c = concat('a', 'b')",
            "a comparison of CHAR with an expression of constants",
        ),
        ("select k from t where c = r'a'", "a comparison of CHAR with an expression of constants"),
        (
            "select k from t where c in ('a', s)",
            "IN of CHAR with a list that holds more than string literals",
        ),
        ("select k from t where equal_null(c, 'a')", "EQUAL_NULL of CHAR"),
        ("select decode(c, 'a', 1) as x from t", "DECODE of CHAR"),
        ("select case c when 'abcd' then 1 end as x from t", "CASE of CHAR(3) with a longer value"),
        ("select * from t unpivot (v for n in (c, s))", "UNPIVOT of CHAR"),
    ],
)
def test_what_is_not_known_is_refused(sql, what):
    found = refusal(sql, Tables())
    assert found.reason is Reason.TYPE_NOT_SUPPORTED
    assert what in found.detail
    assert found.place is not None
