"""Queries of TPC-DS as views that may never be rebuilt, while all fact tables and five dimensions change.

SPARKIVM_TPCDS_QUERIES  how many of the 99, drawn by the seed (1), or their numbers: 4,11,74
SPARKIVM_TPCDS_ROUNDS   how many rounds of changes (1)
SPARKIVM_TPCDS_SEED     (random, printed)
"""

from __future__ import annotations

import os

import pytest

from tests.seeds import seed
from tests.spark.lab import Lab
from tests.spark.rounds import stay_equal
from tests.tpcds.draw import drawn
from tests.tpcds.queries import models
from tests.tpcds.world import TpcdsWorld

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_ROUNDS = int(os.environ.get("SPARKIVM_TPCDS_ROUNDS", "1"))
_SEED = seed("SPARKIVM_TPCDS_SEED")


def test_queries_are_kept_equal_to_their_recomputation(spark):
    numbers = drawn(_SEED, 1)
    print(f"\nSPARKIVM_TPCDS_SEED={_SEED}: queries {', '.join(map(str, numbers))}")
    lab = Lab(spark, "tpcds_queries")
    world = TpcdsWorld(lab, _SEED)
    texts = models()
    views = [lab.view(f"q{number:02}", texts[number], refresh_mode="strict") for number in numbers]
    stay_equal(lab, views, world, _ROUNDS)
