"""The TPC-DS queries as views on the embedded engine, and what the compiler makes of each."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.random_data import Change
from tests.nightly import few_of
from tests.seeds import seed
from tests.tpcds.changes import CHANGING
from tests.tpcds.embedded import TpcdsDatabase, TpcdsView
from tests.tpcds.generator import NUMBERS
from tests.tpcds.queries import model

_AT_EACH_RUN = (4, 23, 51, 78)
_ROUNDS = 1
_SEED = seed("tpcds")
_CHANGED = Change(deleted=((),))


@pytest.fixture(scope="module")
def database():
    result = TpcdsDatabase(_SEED)
    for _ in range(_ROUNDS):
        result.change()
    return result


@pytest.mark.parametrize("number", few_of(NUMBERS, _AT_EACH_RUN))
def test_query_equals_its_recomputation(database, number):
    view, rng = TpcdsView(database, model(number)), random.Random(_SEED + number)
    view.build()
    for version in range(1, _ROUNDS + 1):
        form = view.refresh(rng, version, dict.fromkeys(CHANGING, _CHANGED))
        assert view.difference(version) is None, f"round {version} by {form}"
    assert view.state_difference(_ROUNDS) is None
