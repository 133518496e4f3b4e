"""Queries of TPC-H as views that may never be rebuilt, while all eight tables change.

SPARKIVM_TPCH_QUERIES  how many of the 22, drawn by the seed (1)
SPARKIVM_TPCH_ROUNDS   how many rounds of changes (1)
SPARKIVM_TPCH_SEED     (random, printed)
"""

from __future__ import annotations

import os
import random

import pytest

from tests.seeds import seed
from tests.spark.lab import Lab
from tests.spark.rounds import stay_equal
from tests.tpch.queries import QUERIES, query_text
from tests.tpch.world import TpchWorld

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_HOW_MANY = int(os.environ.get("SPARKIVM_TPCH_QUERIES", "1"))
_ROUNDS = int(os.environ.get("SPARKIVM_TPCH_ROUNDS", "1"))
_SEED = seed("SPARKIVM_TPCH_SEED")


def test_queries_are_kept_equal_to_their_recomputation(spark):
    assert len(QUERIES) == 22
    queries = random.Random(_SEED).sample(QUERIES, _HOW_MANY)
    print(f"\nSPARKIVM_TPCH_SEED={_SEED}: {', '.join(sorted(path.stem for path in queries))}")
    lab = Lab(spark, "tpch_queries")
    world = TpchWorld(lab, _SEED)
    views = [lab.view(path.stem, query_text(path), refresh_mode="strict") for path in queries]
    stay_equal(lab, views, world, _ROUNDS)
