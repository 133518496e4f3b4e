"""Queries of TPC-DS as views that may never be rebuilt, while all fact tables and five dimensions change.

SPARKIVM_TPCDS_QUERIES  how many of the 99, drawn by the seed (1), or their numbers: 4,11,74
SPARKIVM_TPCDS_ROUNDS   how many rounds of changes (1)
SPARKIVM_TPCDS_SEED     (random, printed)
"""

from __future__ import annotations

import os
import random

import pytest

from sparkivm.refresh.pins import Pins
from tests.spark.lab import Lab, View, side_by_side
from tests.tpcds.draw import drawn
from tests.tpcds.queries import models
from tests.tpcds.world import TpcdsWorld

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_ROUNDS = int(os.environ.get("SPARKIVM_TPCDS_ROUNDS", "1"))
_SEED = int(os.environ.get("SPARKIVM_TPCDS_SEED", random.SystemRandom().randrange(10**9)))


def test_queries_are_kept_equal_to_their_recomputation(spark):
    numbers = drawn(_SEED, 1)
    print(f"\nSPARKIVM_TPCDS_SEED={_SEED}: queries {', '.join(map(str, numbers))}")
    lab = Lab(spark, "tpcds_queries")
    world = TpcdsWorld(lab, _SEED)
    texts = models()
    views = [lab.view(f"q{number:02}", texts[number], refresh_mode="strict") for number in numbers]
    side_by_side(lab, views, View.build)
    for number in range(1, _ROUNDS + 1):
        world.change()
        pins = Pins()
        results = side_by_side(lab, views, lambda view, pins=pins: view.refresh(pins))
        assert {result.mode for result in results} <= {"incremental", "no_op"}
        found = zip(views, side_by_side(lab, views, View.differences), strict=True)
        different = {view.name: rows for view, rows in found if rows}
        assert not different, f"round {number}: {different}"
    hidden = side_by_side(lab, views, View.state_differences)
    assert not any(hidden), [view.name for view, found in zip(views, hidden, strict=True) if found]
