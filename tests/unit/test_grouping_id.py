"""GROUPING_ID() and its name in Hive, GROUPING__ID; GROUPING."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.reading import assert_refused, read

SETS = "group by rollup(k, a)"


@pytest.mark.parametrize(
    ("hive", "spark"),
    [
        (f"select k, grouping__id from r {SETS}", f"select k, grouping_id() as grouping__id from r {SETS}"),
        (f"select k, Grouping__ID + 1 as g from r {SETS}", f"select k, grouping_id() + 1 as g from r {SETS}"),
        (
            f"select k from r {SETS} having grouping__id < 2 order by grouping__id",
            f"select k from r {SETS} having grouping_id() < 2 order by grouping_id()",
        ),
        (
            f"select k, grouping__id from r {SETS} having grouping__id < 2 order by grouping__id",
            f"select k, grouping_id() as grouping__id from r {SETS} having grouping_id() < 2 order by 2",
        ),
    ],
)
def test_it_is_grouping_id(hive, spark):
    assert str(read(hive)) == str(read(spark))


def test_a_column_of_the_name_is_the_column():
    subquery = "(select a as grouping__id from r)"
    assert str(read(f"select grouping__id from {subquery}")) == str(
        read(f"select t.grouping__id from {subquery} t")
    )


def test_something_else_of_the_name():
    refused = f"select k as grouping__id, grouping__id + 1 as g from r {SETS}"
    assert_refused(refused, Reason.NON_DETERMINISTIC_EXPRESSION, "grouping__id is not a column here")


def test_grouping_id_without_keys():
    query = read("select grouping_id() as g, count(*) as n from r group by grouping sets (())")
    assert len(query.output) == 2


@pytest.mark.parametrize("call", ["grouping(k)", "grouping_id()"])
def test_without_grouping_sets(call):
    sql = f"select k, {call} as g from r group by k"
    assert_refused(sql, Reason.SQL_NOT_UNDERSTOOD, "GROUPING without grouping sets")
