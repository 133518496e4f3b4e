"""Subqueries for which only Spark knows the value over empty input or the result of IN."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read

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


@pytest.mark.parametrize("constant", ["null", "cast(null as int)", "nullif(1, 1)"])
def test_in_of_a_constant_that_may_be_null(constant):
    detail = "IN of a constant that may be NULL"
    for text in (f"{constant} in (select k from s)", f"{constant} not in (select k from s)"):
        assert_refused(f"select k from r where ({text}) is null", Reason.OPERATOR_NOT_SUPPORTED, detail)
    read("select k from r where 1 in (select k from s) or (null, k) in (select a, k from s)")
    read("select k from r where ((k, a)) in (select k, a from s) and ((k)) not in (select k from s)")
