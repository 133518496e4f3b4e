"""Invariants of every state, for any query."""

from __future__ import annotations

import random

from sparkivm.algebra.aggregates.count import ROWS, VALUES
from sparkivm.plan.state import GroupState
from tests.fuzz.case import Case
from tests.fuzz.database import Database
from tests.fuzz.view import View


def state_is_sound(database: Database, case: Case) -> str | None:
    """M12: counts are not negative, groups without rows are gone, each key exists once, including NULL."""
    database.load(case.world)
    view = View(database, case.sql)
    state = view.plan.state
    if not isinstance(state, GroupState):
        return None
    view.build()
    rng = random.Random(case.seed)
    for version, changes in enumerate(case.world.batches, 1):
        view.refresh(rng, version, changes)
        rows = view.hidden(version)
        keys = [row[: len(state.keys)] for row in rows]
        if len(set(keys)) < len(keys):
            return f"state has a key twice after batch {version}: {rows}"
        if not state.keys and len(rows) != 1:
            return f"state has {len(rows)} rows without keys after batch {version}"
        for row in rows:
            values = dict(zip(state.names, row, strict=True))
            counts = [values[entry.name] for entry in state.columns if entry.function in (ROWS, VALUES)]
            if min(counts) < 0 or max(counts) > counts[0] or (state.keys and not counts[0]):
                return f"state has an impossible count after batch {version}: {values}"
    return None
