"""SQL that Spark could read differently from the parser is refused, with its place."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read

UNCLEAR = {
    "select a + b as c, sum(k) as s from r group by grouping sets ((a + b), (b + a), (b))": "may be the same as the key",
    "select a + b as c, sum(k) as s from r group by rollup (b + a, a, b)": "may be the same as the key",
    "select a > b as c, sum(k) as s from r group by cube ((b < a), a, b)": "may be the same as the key",
    "select * from (select all, a from r) as t (x, y)": "2 names for 1 columns",
    "select max(a) as c from (select a, 1 as all from r) as t group by all": "ALL is the name of a column",
    "select a, b as all from r order by all": "ALL is the name of a column",
    "select * from (select a, b from r) unpivot (v for n in (a as identifier('x'), b))": "as an alias",
    "with c (x, y) as (select a from r) select x from c": "2 names for 1 columns",
}


@pytest.mark.parametrize(("sql", "detail"), UNCLEAR.items())
def test_unclear_texts_are_refused(sql, detail):
    assert_refused(sql, Reason.SQL_NOT_UNDERSTOOD, detail)


def test_a_key_as_it_is_written_is_found():
    sql = "select a + b as c, (a + b) * 2 as d, sum(k) as s from r group by grouping sets ((a + b), (b))"
    assert len(read(sql).output) == 3
