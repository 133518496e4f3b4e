"""Models that a random run once found to be refreshed incorrectly."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from tests.fuzz.database import Database
from tests.fuzz.random_data import Change, World
from tests.fuzz.view import View

ONE, OTHER = (2, 0, 1, Decimal("-3.10"), 1.5, "b"), (1, 2, None, Decimal("7.50"), 0.0, None)
WORLD = World(
    {"r": [ONE], "s": [], "t": [ONE]}, ({"r": Change(inserted=(OTHER, ONE)), "t": Change(inserted=(OTHER,))},)
)


@pytest.mark.parametrize(
    "condition", ["not s = 'a'", "a = 0 and s is null", "a = 2 or s = 'b'", "a between 0 and 1", "s in ('b')"]
)
@pytest.mark.parametrize("seed", range(4))
def test_count_of_a_condition(condition, seed):
    """`case when not x is not null` means `not (x is not null)`."""
    database = Database()
    database.load(WORLD)
    view = View(database, f"select k, count({condition}) as n, count(*) as m from r group by k")
    view.build()
    view.refresh(random.Random(seed), 1, dict(WORLD.batches[0]))
    assert view.difference(1) is None


def test_a_predicate_over_a_union_of_types():
    """Above the union the number is 1.0; in its branch it is 1."""
    database = Database()
    database.load(WORLD)
    view = View(
        database,
        "select x, count(*) as n from (select k as x from r union all select f from t) where cast(x as string) = '1.0' group by x",
    )
    view.build()
    view.refresh(random.Random(0), 1, dict(WORLD.batches[0]))
    assert view.difference(1) is None
    assert view.visible()


@pytest.mark.parametrize("seed", range(4))
def test_mean_of_distinct_values(seed):
    """The parser does not know MEAN, unlike AVG, so the compiler missed its DISTINCT."""
    database = Database()
    world = World({"r": [ONE, ONE]}, ({"r": Change(inserted=((2, 3, 1, None, None, None),))},))
    database.load(world)
    view = View(database, "select k, mean(distinct a) as x from r group by k")
    view.build()
    view.refresh(random.Random(seed), 1, dict(world.batches[0]))
    assert view.difference(1) is None
