"""Decimals beside integers that are literals, and beside columns that are defined as literals."""

from __future__ import annotations

import pytest

from sparkivm.reasons import Reason
from tests.spark import rounds
from tests.spark.lab import Lab, View, side_by_side

pytestmark = pytest.mark.spark

VIEWS = {
    "filtered": "select k, d from (select k, d, 3 as n from t) where d / n > 0.33333333",
    "of_union": "select k, d from (select k, d, 3 as n from t union all select k, d, 4 from u) where d / n > 0.33333333",
    "largest": "select k, max(d / n) as y from (select k, d, 3 as n from t) group by k",
    "formula": "select k, s / n as y from (select k, sum(d) as s, 12 as n from t group by k)",
    "alias": "select k, 12 as n, sum(d) / n as y from t group by k having sum(d) / n > 0.08333333",
    "as_text": "select k, cast(d / n as string) as y from (select k, d, 3 as n from t)",
    "shown": "select 12 as n, k, d / n as y from t",
    "joined": "select t.k, u.d from t left join (select k, d, 3 as n from u) as u on t.k = u.k and t.d / u.n > 0.33333333",
    "key": "select 2 as n, k, sum(x) * 2 as y, sum(x) * n as z from t group by all",
    "syntax": "select 10 as n, null as m, k, cast(sum(d) as decimal(10, 1)) as y, sum(d) is null as z from t group by all",
}

# Spark's join finds no match for NULLs without a type.
NULL_KEYS = {
    "read_again": "select null as m, k, max(d) as y from t group by all",
    "inner": "select y, count(*) as n from (select null as m, k, max(d) as y from t group by all) group by y",
    "partition": "select k, count(*) over (partition by m, k) as n from (select k, null as m from t)",
}
UNTYPED = {
    "added_up": "select null as m, k, sum(d) as y from t group by all",
    "rows": "select k, null as m from t union all select k, null from u",
    "typed": "select cast(null as string) as m, k, max(d) as y from t group by all",
}


@pytest.fixture
def lab(spark) -> Lab:
    lab = Lab(spark, "literals")
    columns = "k int, d decimal(12,2), x decimal(27,10)"
    lab.table(
        "t", columns, "(1, 1.00, 0.0000001500)", "(1, 2.00, 0)", "(2, 1.00, 0.0000000500)", "(3, 0.10, 1)"
    )
    lab.table("u", columns, "(1, 1.00, 0)", "(2, 1.34, 0)")
    return lab


def test_a_column_is_not_its_literal(lab):
    views = [lab.view(name, sql) for name, sql in VIEWS.items()]
    side_by_side(lab, views, View.build)
    for statements in (
        ["delete from t where d = 2", "insert into t values (4, 1.00, 0.0000000500)"],
        [
            "delete from t where k = 1",
            "insert into t values (2, 0.01, 0.0000001000)",
            "update u set d = 1.33 where k = 2",
        ],
        ["update t set d = d * 10, x = x * 3 where k > 2"],
    ):
        lab.run(*statements)
        assert rounds.refresh_all(lab, views) == {"incremental"}
        side_by_side(lab, views, View.check)
    assert not any(side_by_side(lab, views, View.state_differences))


@pytest.mark.nightly
def test_nulls_without_a_type(lab):
    for name, sql in NULL_KEYS.items():
        lab.view(name, sql).must_be("create", Reason.TYPE_NOT_SUPPORTED)
    views = [lab.view(name, sql).build() for name, sql in UNTYPED.items()]
    lab.run("delete from t where d = 2", "insert into t values (2, 0.5, 0)", "delete from u where k = 1")
    for view in views:
        view.must_be("incremental")
