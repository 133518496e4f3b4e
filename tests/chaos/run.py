"""Disturbs every kind of refresh at each of its statements in every way; `make chaos`.

Then two drivers refresh the same views while somebody writes, and dbt is killed with its JVM. Prints counts, and
writes them to docs/reliability.md. Exits with 1 if the next run did not heal a view.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
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
_DRIVERS, _KILLS = "two drivers and a writer", "dbt killed"


@dataclass(frozen=True)
class Tried:
    """The faults tried for one kind of refresh, or in another scenario: counts by kind, and failures."""

    name: str
    counts: dict[str, int]
    failures: list[str]

    @property
    def states(self) -> int:
        return sum(self.counts.get(fault, 0) for fault in FAULTS)

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {what}" for what, number in self.counts.items())
        return "\n  ".join([f"{self.name}: {counts}; {len(self.failures)} went wrong", *self.failures])


class Results:
    """Results by name, saved in a file so that an interrupted run can continue."""

    def __init__(self, path: Path | None) -> None:
        self._path, self._lock = path, threading.Lock()
        there = json.loads(path.read_text()) if path is not None and path.exists() else []
        self.tried = {one["name"]: Tried(**one) for one in there}

    def of(self, name: str, attempt: Callable[[], Tried]) -> None:
        """Run an attempt, unless it already succeeded."""
        if name in self.tried and not self.tried[name].failures:
            return
        started = time.monotonic()
        try:
            tried = attempt()
        except Exception:  # the kind itself is broken; the other kinds still run
            tried = Tried(name, {}, [f"{name}: {traceback.format_exc()}"])
        print(f"{tried}, {time.monotonic() - started:.0f} s", flush=True)
        with self._lock:
            self.tried[name] = tried
            if self._path is not None:
                self._path.write_text(json.dumps([asdict(one) for one in self.tried.values()]))


def try_kind(spark: SparkSession, kind: Kind, most: int | None) -> Tried:
    """All faults at all statements of a kind, or only the first `most`."""
    world = World(spark, kind)
    tried = Tried(kind.name, {"statements": world.boundaries, **dict.fromkeys(FAULTS, 0)}, [])
    for fault in all_faults(world.boundaries)[:most]:
        try:
            tried.counts[fault.what] += world.disturbed(fault)
        except Failure as failure:
            tried.counts[fault.what] += 1
            tried.failures.append(f"{kind.name}, {fault}: {failure}")
            world.close()
            world = World(spark, kind)
    world.close()
    return tried


def try_all(spark: SparkSession, kinds: Sequence[Kind], most: int | None, results: Results) -> None:
    """Two kinds at a time, each in its own schema. The assumed state size is set for the whole process."""
    for size in SIZES:
        chosen = [kind for kind in kinds if kind.size == size]
        with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(_THREADS) as pool:
            take_states_for(size, patch)
            list(pool.map(lambda kind: results.of(kind.name, lambda: try_kind(spark, kind, most)), chosen))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="", help="only kinds whose names contain this")
    parser.add_argument("--most", type=int, default=None, help="maximum faults per kind; all by default")
    parser.add_argument("--rounds", type=int, default=200, help="of two drivers and a writer")
    parser.add_argument("--kills", type=int, default=50, help="of dbt and its JVM")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--results", type=Path, help="file to continue an interrupted run")
    parser.add_argument("--page", type=Path, help="where the counts are written")
    arguments = parser.parse_args()
    kinds = [kind for kind in KINDS if arguments.kind in kind.name]
    results = Results(arguments.results)

    def drivers() -> Tried:
        wrong = two_drivers(spark, arguments.rounds, arguments.seed)
        return Tried(_DRIVERS, {"rounds": arguments.rounds}, wrong)

    def killed() -> Tried:
        number, wrong = kills(Path(directory) / "killed", arguments.kills, arguments.seed)
        return Tried(_KILLS, {"times": number}, wrong)

    with tempfile.TemporaryDirectory() as directory:
        start(session_settings(SETTINGS, Path(directory)), Path(directory))
        spark = SparkSession.builder.getOrCreate()
        try_all(spark, kinds, arguments.most, results)
        results.of(_DRIVERS, drivers)
        spark.stop()
        results.of(_KILLS, killed)
    tried = results.tried
    failures = sum(len(one.failures) for one in tried.values())
    print(f"{sum(one.states for one in tried.values())} states, {failures} failures")
    if arguments.page:
        arguments.page.write_text(page([tried[kind.name] for kind in kinds], tried[_DRIVERS], tried[_KILLS]))
    return 1 if failures else 0


def page(kinds: Sequence[Tried], drivers: Tried, killed: Tried) -> str:
    """docs/reliability.md: what was tried, with the results."""
    columns = ("statements", *FAULTS)
    lines = [
        "# Reliability",
        "",
        "`make chaos` wrote this page. Each kind of refresh is disturbed at each statement that it sends, in four ways: the driver is",
        "killed before the statement, or after it; the statement is executed twice; its answer is lost. Then one ordinary run follows,",
        "as a new driver would do it. The view and its hidden columns have to equal a recomputation. Until that run, readers see the old",
        "rows or the new ones. The run after it has nothing to do, and relations of others are as they were.",
        "",
        f"| kind of refresh | {' | '.join(columns)} | not healed |",
        "|---|" + "---|" * (len(columns) + 1),
        *(
            f"| {one.name} | {' | '.join(str(one.counts.get(column, 0)) for column in columns)} | {len(one.failures)} |"
            for one in kinds
        ),
        "",
        f"{sum(one.states for one in kinds)} states: {sum(len(one.failures) for one in kinds)} with lost or doubled rows, repaired by "
        "hand, or with relations of others touched.",
        "",
        "Two drivers refreshed the same views at the same time while a third party wrote to the sources: "
        f"{drivers.counts.get('rounds', 0)} rounds, {len(drivers.failures)} wrong.",
        f"dbt was killed with its JVM in the middle of a run {killed.counts.get('times', 0)} times: {len(killed.failures)} times the next "
        "`dbt build` did not end well.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
