"""A fixed part of `make chaos`: each kind of fault in the main kinds of refresh; the next run heals the view.

This covers a few fault points per apply form on Spark. tests/refresh/test_killed_refreshes.py covers all
statements of each kind, without Spark.
"""

from __future__ import annotations

import pytest

from tests.chaos.faults import FAULTS, Fault
from tests.chaos.kinds import KINDS
from tests.chaos.trial import World
from tests.nightly import few_of
from tests.spark.state_sizes import take_states_for

pytestmark = [pytest.mark.spark, pytest.mark.slow]

_NAMES = (
    "create",
    "append of groups",
    "rewrite of groups",
    "rewrite of rows",
    "replace of groups",
    "merge of additive groups",
    "merge of rows",
    "in steps",
    "full refresh",
    "rebuild: query changed",
    "with an auxiliary view",
    "create with an auxiliary view",
    "mirror changes",
    "drop with an auxiliary view",
    "change of materialization",
)
_AT_EACH_RUN = ("create", "append of groups", "rewrite of rows", "replace of groups", "merge of rows")
CHOSEN = [kind for kind in KINDS if kind.name in _NAMES]
AT_EACH_RUN = [kind for kind in CHOSEN if kind.name in _AT_EACH_RUN]


def test_how_many_states():
    assert len(CHOSEN) * len(FAULTS) == 60
    assert len(AT_EACH_RUN) * len(FAULTS) == 20


@pytest.mark.parametrize("kind", few_of(CHOSEN, AT_EACH_RUN), ids=lambda kind: kind.name)
def test_the_next_run_heals(spark, kind, monkeypatch):
    """The faults are spread over the refresh's statements; if one does not happen, an earlier statement is tried."""
    take_states_for(kind.size, monkeypatch)
    world = World(spark, kind)
    for number, what in enumerate(FAULTS):
        last = number * world.boundaries // len(FAULTS)
        assert any(world.disturbed(Fault(what, at)) for at in range(last, -1, -1)), f"never {what}"
    world.close()
