"""ORDER BY … LIMIT in a correlated subquery: it must be known which rows Spark takes."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read

ANY_ROWS = [
    "select k from r where b = (select distinct b from s where r.k < r.a order by b limit 1)",
    "select k, (select b from s where r.k < r.a and s.a > 1 order by b limit 1) as x from r",
    "select k, x from r, lateral (select b as x from s where r.a is null order by b, a limit 2)",
]
KNOWN_ROWS = [
    "select k, (select b from s where s.k = r.k and r.k < r.a order by b limit 1) as x from r",
    "select k, x from r, lateral (select b as x from s where s.k >= r.k order by b, a limit 2)",
    "select k, (select b from s where s.a > 1 order by b limit 1) as x from r",
]


@pytest.mark.parametrize("sql", ANY_ROWS)
def test_a_subquery_that_spark_computes_once_may_give_any_rows(sql):
    assert_refused(sql, Reason.NON_DETERMINISTIC_EXPRESSION, "takes arbitrary rows")


@pytest.mark.parametrize("sql", KNOWN_ROWS)
def test_others_are_read(sql):
    assert read(sql).output
