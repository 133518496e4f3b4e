"""TPC-DS's queries as views on the embedded engine, and what the compiler makes of each.

SPARKIVM_TPCDS_QUERIES  how many of the 99, drawn by the seed (4), or their numbers: 4,11,74
SPARKIVM_TPCDS_ROUNDS   how many rounds of changes (1)
SPARKIVM_TPCDS_SEED     (random, printed)
"""

from __future__ import annotations

import os
import random

import pytest

from tests.fuzz.random_data import Change
from tests.seeds import seed
from tests.tpcds.changes import CHANGING
from tests.tpcds.draw import drawn
from tests.tpcds.embedded import TpcdsDatabase, TpcdsView
from tests.tpcds.queries import models

_ROUNDS = int(os.environ.get("SPARKIVM_TPCDS_ROUNDS", "1"))
_SEED = seed("SPARKIVM_TPCDS_SEED")
_CHANGED = Change(deleted=((),))


@pytest.fixture(scope="module")
def database():
    result = TpcdsDatabase(_SEED)
    for _ in range(_ROUNDS):
        result.change()
    return result


@pytest.mark.parametrize("number", drawn(_SEED, 4))
def test_query_equals_its_recomputation(database, number):
    print(f"\nSPARKIVM_TPCDS_SEED={_SEED}")
    view, rng = TpcdsView(database, models()[number]), random.Random(_SEED + number)
    view.build()
    for version in range(1, _ROUNDS + 1):
        form = view.refresh(rng, version, dict.fromkeys(CHANGING, _CHANGED))
        assert view.difference(version) is None, f"round {version} by {form}"
    assert view.state_difference(_ROUNDS) is None
