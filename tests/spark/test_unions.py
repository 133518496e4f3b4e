"""Changes that Spark refuses to keep in memory: one statement reads them several times, below UNION ALL.

Spark 4.1 returned wrong rows for it, before `spark.sql.unionOutputPartitioning` was set for each statement.
"""

from __future__ import annotations

import pytest

from sparkivm.engine import EngineError
from tests.chaos.kinds import NUMBERED, mixed
from tests.spark.lab import Lab
from tests.spark.state_sizes import take_states_for

pytestmark = pytest.mark.spark


def test_windows_of_groups_whose_numbers_stay(spark, monkeypatch):
    take_states_for("huge", monkeypatch)
    lab = Lab(spark, "unions")
    lab.engine.session.conf.set("spark.sql.unionOutputPartitioning", "true")  # as on a server
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)", "(4, null, 8)")
    view = lab.view("m", NUMBERED).build()
    for number in range(101, 105):
        mixed(view, number)
        view.must_be("incremental")
    mixed(view, 105)
    execute = lab.engine.execute

    def refuse(sql: str) -> object:
        if sql.startswith("create global temporary view"):
            raise EngineError("there is no memory")
        return execute(sql)

    monkeypatch.setattr(lab.engine, "execute", refuse)
    result = view.must_be("incremental")
    assert "Spark cannot cache rows in memory" in result.warnings[0]
