"""`stamp_columns` in Spark's SQL: equal rows, groups, and each form that changes a state."""

from __future__ import annotations

from collections import Counter

import pytest

from sparkivm.refresh.operations.consistency import consistency_sql
from tests.spark.lab import Lab
from tests.spark.state_sizes import SIZES, take_states_for

pytestmark = pytest.mark.spark

STAMP = "cast('2024-01-0{run} 12:00:00' as timestamp) as loaded_at"
MODELS = {
    "rows": f"select k, name, {STAMP} from t",
    "groups": f"select k, sum(x) > 5 as many, max(name) as name, {STAMP} from t group by k having count(*) < 4",
}
# By run: (other columns, day of the stamp), and how often.
EXPECTED = {
    "rows": {
        2: {(1, "a", 1): 1, (2, "b", 1): 1, (2, "c", 2): 1, (3, None, 2): 1},
        3: {(1, "a", 1): 1, (1, "a", 3): 1, (2, "b", 1): 1, (2, "c", 2): 1},
    },
    "groups": {
        2: {(1, False, "a", 1): 1, (2, True, "c", 2): 1, (3, False, None, 2): 1},
        3: {(1, False, "a", 1): 1, (2, True, "c", 2): 1},
    },
}


@pytest.mark.parametrize("size", SIZES)
def test_a_row_keeps_its_stamp_until_it_changes(spark, size, monkeypatch):
    take_states_for(size, monkeypatch)
    lab = Lab(spark, f"stamps_{size}")
    lab.table("t", "k int, x int, name string", "(1, 1, 'a')", "(1, 1, 'a')", "(2, 3, 'b')", "(2, 3, 'b')")
    views = {
        name: lab.view(name, sql.format(run=1), stamp_columns=("loaded_at",)) for name, sql in MODELS.items()
    }
    for view in views.values():
        assert view.refresh().mode == "create"
    changes = {
        2: (
            "merge into t using (select 2 as k) s on t.k = s.k when matched and t.x = 3 then delete",
            "insert into t values (2, 3, 'b'), (2, 4, 'c'), (3, 1, null)",
            "merge into t using (select 1 as k) s on t.k = s.k when matched then delete",
            "insert into t values (1, 1, 'a')",
        ),
        3: ("delete from t where k = 3", "insert into t values (1, 1, 'a')"),
    }
    for run, statements in changes.items():
        lab.run(*statements)
        for name, sql in MODELS.items():
            view = lab.view(name, sql.format(run=run), stamp_columns=("loaded_at",))
            assert view.refresh().mode == "incremental"
            found = (
                lab.session.table(name).selectExpr("* except (loaded_at)", "day(loaded_at) as day").collect()
            )
            assert Counter(map(tuple, found)) == EXPECTED[name][run], (name, run)
            assert lab.rows(consistency_sql(lab.engine, view.request)) == []
