"""Random SELECTs over random tables on Delta: after every batch of commits each view equals its recomputation.

A world is three tables with some views. Each run tests the same few views; `make nightly` tests a thousand.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.run.rebuild import is_mistake_of_spark
from tests.fuzz.random_queries import QueryMaker
from tests.seeds import seed
from tests.spark.lab import Lab, View, side_by_side
from tests.spark.random_world import RandomWorld
from tests.spark.state_sizes import SIZES, take_states_for

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_VIEWS = 25  # per world
_BATCHES = 2
_DEPTH = 2
_DIGITS = 12  # of DOUBLE; Spark's sums depend on the order of its tasks
_FAILURES_OF_OURS = (
    Reason.REFRESH_FAILED,
    Reason.STATE_MODIFIED,
    Reason.FRONTIER_MISSING,
    Reason.QUERY_CHANGED,
)
_OF_SPARK = (EngineError, ModelError, PySparkException, Py4JJavaError)  # the last is an internal error


@dataclass
class Outcome:
    """The results of all views of a run."""

    failures: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # by Spark or Delta: the query cannot be a model
    modes: Counter[str] = field(default_factory=Counter)


@pytest.mark.parametrize("queries", [5, pytest.param(500, marks=pytest.mark.nightly)])
def test_views_equal_their_queries(either_spark, monkeypatch, queries):
    """This number of queries, once with ANSI on and once with ANSI off."""
    outcome = Outcome()
    first = seed(f"random queries {either_spark.conf.get('spark.sql.ansi.enabled')}")
    worlds = -(-queries // _VIEWS)
    for number in range(worlds):
        views = _VIEWS if number + 1 < worlds else queries - number * _VIEWS
        print(f"\nworld {first + number}: {views} views", flush=True)
        live_through(Lab(either_spark, "random_queries"), first + number, views, monkeypatch, outcome)
        print(f"{dict(outcome.modes)}, {len(outcome.refused)} refused", flush=True)
    assert not outcome.failures, "\n\n".join(outcome.failures)
    assert len(outcome.refused) <= max(3, 0.1 * queries), outcome.refused
    incremental, full = (
        sum(n for m, n in outcome.modes.items() if m.startswith(mode)) for mode in ("incremental", "full")
    )
    # Views whose change needs many expensive steps are rebuilt; among a few queries it may be most.
    assert incremental > (full if queries >= _VIEWS else 0), outcome.modes


def live_through(lab: Lab, seed: int, views: int, monkeypatch: pytest.MonkeyPatch, outcome: Outcome) -> None:
    """One world: build the views; for each batch, change the tables, refresh and compare."""
    rng = random.Random(seed)
    world = RandomWorld(lab, rng)
    living = [
        lab.view(
            f"v{i}",
            QueryMaker(rng, max_depth=_DEPTH, mixed_unions=True).query(),
            auxiliary_views=rng.choice(("never", "always")),
        )
        for i in range(views)
    ]
    for batch in range(_BATCHES + 1):
        if batch:
            world.change()
        take_states_for(rng.choice(SIZES), monkeypatch)
        where = f"world {seed}, batch {batch}"
        alive = side_by_side(lab, living, lambda view, where=where: step(view, world, where, outcome))
        living = [view for view, lives in zip(living, alive, strict=True) if lives]
    hidden = side_by_side(lab, living, lambda view: view.state_differences(_DIGITS))
    for view, found in zip(living, hidden, strict=True):
        if found:
            outcome.failures.append(reproducer(view, world, f"world {seed}", f"hidden columns: {found}"))


def step(view: View, world: RandomWorld, where: str, outcome: Outcome) -> bool:
    """Refresh and compare. Returns whether the view continues."""
    found: object = None
    try:
        result = view.refresh()
        why = f" {result.fallback}"[:80] if result.fallback else ""
        outcome.modes[f"{result.mode} {result.apply_form}{why}"] += 1
        if result.fallback is not None and is_of_ours(result.fallback):
            found = result.fallback
        else:
            found = view.differences(_DIGITS)
    except Exception as error:  # a bug is reported with its reproducer, as a difference is
        if isinstance(error, _OF_SPARK) and is_no_model(view):
            outcome.refused.append(f"{view.request.sql}\n{error}")
            return False
        found = f"{type(error).__name__}: {error}"
    if found:
        outcome.failures.append(reproducer(view, world, where, found))
        print(outcome.failures[-1], flush=True)
    return not found


def is_of_ours(fallback: Fallback) -> bool:
    return fallback.reason in _FAILURES_OF_OURS and not is_mistake_of_spark(fallback.detail)


def is_no_model(view: View) -> bool:
    """Whether Spark cannot make a plain table of the SELECT either."""
    table = f"{view.name}__as_table"
    try:
        view.lab.run(f"create or replace table {table} {view.lab.using} as {view.request.sql}")
        view.lab.run(f"drop table {table}")
    except _OF_SPARK:
        return True
    return False


def reproducer(view: View, world: RandomWorld, where: str, found: object) -> str:
    return "\n".join([where, f"model  {view.request.sql}", *world.written, f"found  {found}"])
