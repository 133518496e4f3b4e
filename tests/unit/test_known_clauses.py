"""A clause that the compiler does not read is refused, never ignored."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read, refusal

PASSED_OVER = {
    "select k from r tablesample (10 rows)": "TABLESAMPLE",
    "select k from (select k from r) tablesample (5 rows)": "TABLESAMPLE",
    "select k from r version as of 1": "time travel",
    "select k from (select * from r timestamp as of '2026-01-01') x": "time travel",
    "select k from r qualify row_number() over (order by a) = 1": "QUALIFY",
    "select distinct on (k) a from r": "DISTINCT ON",
    "select * replace (k as a) from r": "* with REPLACE",
    "select * rename (k as x) from r": "* with RENAME",
    "select k from r union by name select k from s": "BY NAME",
    "select k from r intersect by name select k from s": "BY NAME",
    "select k from r except by name select k from s": "BY NAME",
    "with recursive x as (select 1 as k) select * from x": "a recursive CTE",
    "select k from r where exists (select 1 from s group by all qualify count(*) > 1)": "QUALIFY",
}


@pytest.mark.parametrize(("sql", "what"), PASSED_OVER.items())
def test_an_unread_clause_is_refused_where_it_stands(sql, what):
    found = refusal(sql)
    assert (found.reason, found.detail) == (Reason.OPERATOR_NOT_SUPPORTED, what)
    assert found.place is not None


@pytest.mark.parametrize(
    "sql",
    [
        "select k, explode(split(s, ',')) as tag, count(*) as n from r group by all",
        "select k, explode_outer(split(s, ',')) as tag, sum(a) as n from r group by 1, 2",
        "select k, json_tuple(s, 'a', 'b') as (p, q) from r group by all",
        "select explode(array(1, 2)) as x, count(*) as n from r group by all",
        "select explode(array(1, 2)) as x from r having count(*) > 0",
    ],
)
def test_rows_that_spark_makes_of_groups(sql):
    what = "a function that makes rows beside GROUP BY, HAVING or an aggregate"
    assert_refused(sql, Reason.OPERATOR_NOT_SUPPORTED, what)


@pytest.mark.parametrize(
    "operation", ["union", "union all", "intersect", "intersect all", "except", "except all"]
)
def test_columns_are_never_matched_by_name(operation):
    sql = f"select k, a from r {operation} by name select a, k from s"
    assert_refused(sql, Reason.OPERATOR_NOT_SUPPORTED, "BY NAME")


@pytest.mark.parametrize(
    "sql",
    [
        "select k from r sort by k",
        "select /*+ broadcast(r) */ k from r distribute by k",
        "select k from r cluster by k",
    ],
)
def test_how_rows_are_spread_over_tasks_is_nothing_to_a_view(sql):
    assert read(sql).sort == ()


@pytest.mark.parametrize("operation", ["union all", "union"])
def test_a_table_is_no_branch_of_a_union(operation):
    assert_refused(f"(r) {operation} select k from r", Reason.OPERATOR_NOT_SUPPORTED, "this branch of UNION")


def test_all_parts_of_a_frame_are_read():
    frame = "rows between 1 preceding and unbounded following"
    (call,) = [
        call
        for node in read(f"select sum(a) over (order by k {frame}) as x from r").root.walk()
        for call in getattr(node, "calls", ())
    ]
    assert call.frame.lower() == frame


def test_pivot_behind_a_join_is_of_what_the_join_makes():
    """If PIVOT applied to the right side only, it would group other rows, under the same names."""
    joined = "select k from r join (select k, a as x from s) as q using (k)"
    query = read(f"{joined} pivot (sum(x) for b in (1 as one))")
    (keys,) = {node.keys for node in query.root.walk() if hasattr(node, "calls")}
    assert set(read(joined).root.columns) <= set(keys)


def test_pivot_behind_a_comma_or_a_cross_join_is_unclear():
    found = refusal("select * from r cross join s pivot (sum(s.a) for s.b in (1, 2))")
    assert found.reason is Reason.SQL_NOT_UNDERSTOOD


def test_an_aggregate_where_it_has_to_be_computed_before():
    sql = "select k, explode(collect_list(a)) from r group by k"
    assert_refused(sql, Reason.OPERATOR_NOT_SUPPORTED, "an aggregate inside of EXPLODE")


@pytest.mark.parametrize(
    "sql",
    [
        "select k from r where max(a) in (select a from s)",
        "select k from r where exists (select 1 from s where s.a = max(r.a))",
        "select k, exists (select 1 from s where s.a = max(r.a)) as x from r group by k",
        "select k from r group by k having exists (select 1 from s where s.a = count(*))",
        "select k from r group by k having rank() over (order by k) in (select a from s)",
    ],
)
def test_an_aggregate_where_spark_takes_none(sql):
    assert refusal(sql).reason is Reason.EXPRESSION_NOT_SUPPORTED


def test_an_aggregate_of_the_query_around_that_is_the_subquerys_result():
    sql = "select k from r group by k having count(*) > (select max(r.k) from s)"
    assert_refused(sql, Reason.OPERATOR_NOT_SUPPORTED, "outside the subquery's WHERE and ON")
