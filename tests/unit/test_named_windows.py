"""The WINDOW clause: names that Spark does not find, or finds elsewhere."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read, refusal


@pytest.mark.parametrize(
    ("sql", "detail"),
    [
        ("select sum(a) over w as x from r", "no window w"),
        ("select k from r order by sum(a) over w", "no window w"),
        ("select x from (select sum(a) over w as x from r) window w as (partition by k)", "no window w"),
        ("select sum(a) over w as x from r window W as (partition by k)", "no window w"),
        ("select sum(a) over w as x from r window w as (partition by k), W as ()", "the same name"),
        ("select sum(a) over w as x from r window w as v", "no window v"),
        ("select sum(a) over w as x from r window u as (), v as u, w as v", "no window v"),
    ],
)
def test_what_is_refused(sql, detail):
    assert_refused(sql, Reason.SQL_NOT_UNDERSTOOD, detail)


def test_a_subquery_has_its_own_windows():
    query = read(
        "select k, (select max(n) from (select count(*) over w as n from s window w as (order by s.a))) as m, "
        "sum(b) over w as x from r window w as (partition by k)"
    )
    partitions = [node.partition for node in query.root.walk() if hasattr(node, "partition")]
    assert sorted(map(len, partitions)) == [0, 1]


@pytest.mark.parametrize(
    ("call", "known"),
    [
        ("last_value(b) over (partition by k order by a)", False),
        ("first_value(b) over (partition by k order by a)", True),
        ("first_value(b, true) over (partition by k order by a)", False),
        ("first_value(b) ignore nulls over (partition by k order by a)", False),
        ("first_value(a) ignore nulls over (partition by k order by a)", True),
        ("any_value(b) over (partition by k order by a range between current row and 1 following)", False),
        (
            "first(b) over (partition by k order by a range between unbounded preceding and 1 preceding)",
            False,
        ),
        ("first(a) over (partition by k order by a range between unbounded preceding and 1 preceding)", True),
        ("first(b) over (partition by k order by a range between unbounded preceding and 1 following)", True),
        (
            "first(b) over (partition by k order by a range between unbounded preceding and (0 - 1) following)",
            False,
        ),
        ("first(b) over (partition by k order by a rows between 1 preceding and current row)", True),
        ("nth_value(b, 2) over (partition by k)", False),
        (
            "last_value(b) over (partition by k order by a range between current row and unbounded following)",
            False,
        ),
        ("last_value(a) over (partition by k order by a)", True),
        ("last_value(k + a) over (partition by k order by a)", True),
        (
            "last_value(b) over (partition by k order by a rows between unbounded preceding and current row)",
            True,
        ),
        ("nth_value(b % 2, 2) over (partition by k order by b % 2)", True),
    ],
)
def test_a_row_of_the_frame(call, known):
    """If a frame ends with several peers, any of them may be the last row."""
    sql = f"select k, {call} as v from r"
    if known:
        assert read(sql).output
    else:
        assert "any of the tied rows" in refusal(sql).detail
