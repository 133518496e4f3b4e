"""WINDOW(time, …): the rows that it makes. The WINDOW clause keeps its meaning."""

from __future__ import annotations

import pytest

from sparkivm.algebra import Generate, Window
from sparkivm.reasons import Reason
from tests.reading import assert_refused, read

CALL = "window(timestamp(s), '5 minutes')"
READ = [
    f"select {CALL} as w, count(*) as n from r group by {CALL}",
    f"select {CALL} as w, count(*) as n from r group by 1",
    f"select window.start, count(*) as n from r group by {CALL}, k order by window.start",
    f"select {CALL} as w, sum(a) as x from r group by all having count(*) > 1",
    f"select r.*, {CALL}.end as until from r where k > 1",
    f"select k from r where exists (select {CALL} from s where s.k = r.k)",
]


@pytest.mark.parametrize("sql", READ)
def test_each_row_is_there_once_for_each_window(sql):
    made = [node for node in read(sql).root.walk() if isinstance(node, Generate)]
    assert [node.in_select for node in made] == [True]


def test_the_column_is_no_part_of_the_star():
    assert read(f"select *, {CALL} as w from r").output == (*read("select * from r").output, "window")


def test_a_clause_of_the_same_name():
    nodes = list(
        read("select sum(a) over window_1 as x from r window window_1 as (partition by k)").root.walk()
    )
    assert any(isinstance(node, Window) for node in nodes)
    assert not any(isinstance(node, Generate) for node in nodes)


@pytest.mark.parametrize(
    ("sql", "reason", "detail"),
    [
        (
            f"select {CALL} as w, window(timestamp(s), '1 hour') as v from r",
            Reason.OPERATOR_NOT_SUPPORTED,
            "several WINDOW calls",
        ),
        (
            f"select window, count(*) as n from (select k as window, s from r) group by {CALL}, window",
            Reason.SQL_NOT_UNDERSTOOD,
            "the name window is ambiguous",
        ),
        (f"select k from r where {CALL}.start is null", Reason.EXPRESSION_NOT_SUPPORTED, "window"),
        (f"select session_{CALL} as w from r", Reason.OPERATOR_NOT_SUPPORTED, "SESSION_WINDOW"),
        (
            f"select session_window, count(*) as n from r group by session_{CALL}",
            Reason.OPERATOR_NOT_SUPPORTED,
            "SESSION_WINDOW",
        ),
    ],
)
def test_what_is_refused(sql, reason, detail):
    assert_refused(sql, reason, detail)
