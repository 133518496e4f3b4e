"""TPC-H queries as views that may never be rebuilt, while all eight tables change."""

from __future__ import annotations

import pytest

from tests.seeds import seed
from tests.spark.lab import Lab
from tests.spark.rounds import stay_equal
from tests.tpch.queries import QUERIES, query_text
from tests.tpch.world import TpchWorld

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_AT_EACH_RUN = ("q18",)  # groups selected by their sum, then joined


@pytest.mark.parametrize(
    ("queries", "rounds"),
    [(_AT_EACH_RUN, 1), pytest.param(tuple(path.stem for path in QUERIES), 2, marks=pytest.mark.nightly)],
    ids=["one", "all"],
)
def test_queries_are_kept_equal_to_their_recomputation(spark, queries, rounds):
    assert len(QUERIES) == 22
    lab = Lab(spark, "tpch_queries")
    world = TpchWorld(lab, seed("tpch"))
    texts = {path.stem: query_text(path) for path in QUERIES}
    for ansi in (True, False):
        mode = lab.another(ansi=ansi)
        views = [mode.view(f"{name}_{ansi}", texts[name], refresh_mode="strict") for name in queries]
        stay_equal(mode, views, world, rounds)
