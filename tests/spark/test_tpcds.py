"""TPC-DS queries as views that may never be rebuilt, while all fact tables and five dimensions change."""

from __future__ import annotations

import pytest

from tests.seeds import seed
from tests.spark.lab import Lab
from tests.spark.rounds import stay_equal
from tests.tpcds.queries import model
from tests.tpcds.world import TpcdsWorld

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_AT_EACH_RUN = (6,)  # groups of several joins, beside a scalar subquery and an inner average
_ALL = [tuple(range(first, min(first + 25, 100))) for first in range(1, 100, 25)]


@pytest.mark.parametrize(
    "numbers",
    [_AT_EACH_RUN, *(pytest.param(numbers, marks=pytest.mark.nightly) for numbers in _ALL)],
    ids=lambda numbers: f"{numbers[0]}-{numbers[-1]}",
)
def test_queries_are_kept_equal_to_their_recomputation(spark, numbers):
    lab = Lab(spark, "tpcds_queries")
    world = TpcdsWorld(lab, seed("tpcds"))
    for ansi in (True, False):
        mode = lab.another(ansi=ansi)
        views = [
            mode.view(f"q{number:02}_{ansi}", model(number), refresh_mode="strict") for number in numbers
        ]
        stay_equal(mode, views, world, rounds=1)
