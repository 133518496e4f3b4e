"""What a view shows and its state holds after each refresh."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparkivm.plan.steps import INLINED_READS
from tests.fuzz.database import Database
from tests.fuzz.random_data import World
from tests.fuzz.view import View


@dataclass(frozen=True)
class Snapshot:
    """A view's rows at one version."""

    visible: Counter[Any]
    hidden: Counter[Any]


def history(
    database: Database,
    sql: str,
    world: World,
    seed: int,
    most_reads: Sequence[int] = (INLINED_READS,),
) -> list[Snapshot]:
    """The snapshots after 0, 1, … batches; the seed chooses the apply forms."""
    database.load(world)
    view = View(database, sql)
    view.build()
    rng = random.Random(seed)
    snapshots = [snapshot(view, 0)]
    for version, changes in enumerate(world.batches, 1):
        view.refresh(rng, version, changes, most_reads)
        snapshots.append(snapshot(view, version))
    return snapshots


def snapshot(view: View, version: int) -> Snapshot:
    return Snapshot(Counter(view.visible()), Counter(view.hidden(version)))


def visible(snapshots: Sequence[Snapshot]) -> list[Counter[Any]]:
    return [one.visible for one in snapshots]


def _difference(have: Counter[Any], want: Counter[Any]) -> str | None:
    return None if have == want else f"too many {dict(have - want)}, missing {dict(want - have)}"


def first_difference(have: Sequence[Counter[Any]], want: Sequence[Counter[Any]], what: str) -> str | None:
    """The first pair of bags that differ, as text."""
    for version, (mine, other) in enumerate(zip(have, want, strict=True)):
        if found := _difference(mine, other):
            return f"view {what}, after batch {version}: {found}"
    return None


def differs(have: Snapshot, want: Snapshot, what: str) -> str | None:
    """How two snapshots differ, as text."""
    if found := _difference(have.visible, want.visible):
        return f"view {what}: {found}"
    found = _difference(have.hidden, want.hidden)
    return f"state {what}: {found}" if found else None
