"""Disturbs every kind of refresh at each of its statements in each way; `make chaos`.

Then two drivers refresh the same views while somebody writes, and dbt is killed with its JVM. Prints counts, and
writes them into docs/reliability.md. Ends with 1 if a view was not healed by the next run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from dbt.adapters.sparkivm.session import start
from dbt.adapters.sparkivm.session_defaults import session_settings
from pyspark.sql import SparkSession

from tests.chaos.drivers import two_drivers
from tests.chaos.faults import FAULTS
from tests.chaos.kills import kills
from tests.chaos.kinds import KINDS, Kind
from tests.chaos.trial import Failure, World, all_faults
from tests.spark.state_sizes import SIZES, take_states_for
from tests.spark_settings import SETTINGS

_THREADS = 2


@dataclass
class Tried:
    """What was tried of one kind."""

    kind: str
    boundaries: int = 0
    states: Counter[str] = field(default_factory=Counter)  # by the fault
    failures: list[str] = field(default_factory=list)


def try_kind(spark: SparkSession, kind: Kind, most: int | None) -> Tried:
    """All faults at all statements of a kind, or the first `most` of them."""
    tried = Tried(kind.name)
    world = World(spark, kind)
    tried.boundaries = world.boundaries
    for fault in all_faults(world.boundaries)[:most]:
        try:
            if world.disturbed(fault):
                tried.states[fault.what] += 1
        except Failure as failure:
            tried.states[fault.what] += 1
            tried.failures.append(f"{kind.name}, {fault}: {failure}")
            world.close()
            world = World(spark, kind)
    world.close()
    return tried


def try_all(spark: SparkSession, kinds: Sequence[Kind], most: int | None) -> list[Tried]:
    """Two kinds at the same time, each in a schema of its own; how large states count holds for the process."""
    found: dict[str, Tried] = {}
    for size in SIZES:
        chosen = [kind for kind in kinds if kind.size == size]
        with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(_THREADS) as pool:
            take_states_for(size, patch)
            for tried in pool.map(lambda kind: _reported(spark, kind, most), chosen):
                found[tried.kind] = tried
    return [found[kind.name] for kind in kinds]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="", help="only kinds whose names contain this")
    parser.add_argument("--most", type=int, default=None, help="faults of each kind; all by default")
    parser.add_argument("--rounds", type=int, default=200, help="of two drivers and a writer")
    parser.add_argument("--kills", type=int, default=50, help="of dbt and its JVM")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--page", type=Path, help="where the counts are written")
    arguments = parser.parse_args()
    kinds = [kind for kind in KINDS if arguments.kind in kind.name]
    with tempfile.TemporaryDirectory() as directory:
        start(session_settings(SETTINGS, Path(directory)), Path(directory))
        spark = SparkSession.builder.getOrCreate()
        tried = try_all(spark, kinds, arguments.most)
        wrong = two_drivers(spark, arguments.rounds, arguments.seed)
        print(f"two drivers and a writer: {arguments.rounds} rounds, {len(wrong)} wrong", *wrong, sep="\n  ")
        spark.stop()
        killed, unhealed = kills(Path(directory) / "killed", arguments.kills, arguments.seed)
        print(f"dbt killed: {killed} times, {len(unhealed)} not healed", *unhealed, sep="\n  ")
    failures = [failure for one in tried for failure in one.failures] + wrong + unhealed
    states = sum(one.states.total() for one in tried)
    print(f"{states} states, {len(failures)} failures")
    if arguments.page:
        arguments.page.write_text(page(tried, arguments.rounds, len(wrong), killed, len(unhealed)))
    return 1 if failures else 0


def _reported(spark: SparkSession, kind: Kind, most: int | None) -> Tried:
    started = time.monotonic()
    try:
        tried = try_kind(spark, kind, most)
    except Exception:  # this kind is not what it should be; the others are tried all the same
        tried = Tried(kind.name, failures=[f"{kind.name}: {traceback.format_exc()}"])
    seconds = time.monotonic() - started
    counts = f"{tried.boundaries} statements, {tried.states.total()} states, {len(tried.failures)} not healed"
    print(f"{kind.name}: {counts}, {seconds:.0f} s", *tried.failures, sep="\n  ", flush=True)
    return tried


def page(tried: list[Tried], rounds: int, wrong: int, killed: int, unhealed: int) -> str:
    """docs/reliability.md: what was tried and what came of it."""
    lines = [
        "# Reliability",
        "",
        "`make chaos` wrote this page. Each kind of refresh is disturbed at each statement that it sends, in four ways: the driver is",
        "killed before the statement, or after it; the statement is executed twice; its answer is lost. Then one ordinary run follows,",
        "as a new driver would do it. The view and its hidden columns have to equal a recomputation, readers between the fault and that",
        "run see the old rows or the new ones, the run after it has nothing to do, and relations of others are as they were.",
        "",
        f"| kind of refresh | statements | {' | '.join(FAULTS)} | not healed |",
        "|---|---|" + "---|" * (len(FAULTS) + 1),
    ]
    for one in tried:
        counts = " | ".join(str(one.states[fault]) for fault in FAULTS)
        lines.append(f"| {one.kind} | {one.boundaries} | {counts} | {len(one.failures)} |")
    states, failures = (
        sum(n) for n in zip(*((t.states.total(), len(t.failures)) for t in tried), strict=True)
    )
    lines += [
        "",
        f"{states} states: {failures} with lost or doubled rows, repaired by hand, or with relations of others touched.",
        "",
        f"Two drivers refreshed the same views at the same time while a third party wrote to the sources: {rounds} rounds, {wrong} wrong.",
        f"dbt was killed with its JVM in the middle of a run {killed} times: {unhealed} times the next `dbt build` did not end well.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
