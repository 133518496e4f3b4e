"""Disturb every kind of refresh at each of its statements in each way; `make chaos`.

Then two drivers refresh the same views while somebody writes, with Delta tables and in two Iceberg catalogs, and
dbt is killed with its JVM. The counts are printed and kept in a file with the version of the code;
docs/reliability.md is written from the file, and names the versions. What was tried of the same version, or with
--missing of any version, is not tried again, so an interrupted run goes on. Ends with 1 if a view was not healed by
the next run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import pytest
from dbt.adapters.sparkivm.session import start
from dbt.adapters.sparkivm.session_defaults import session_settings
from pyspark.sql import SparkSession

from tests.chaos.drivers import two_drivers, two_drivers_in
from tests.chaos.faults import FAULTS
from tests.chaos.kills import ROOT, kills
from tests.chaos.kinds import ICE, KINDS, Kind
from tests.chaos.trial import Failure, World, all_faults
from tests.spark.iceberg_catalogs import METASTORE, PACKAGES, hive_catalog, jdbc_catalog
from tests.spark.state_sizes import SIZES, take_states_for
from tests.spark_settings import SETTINGS, catalog_of_iceberg

_THREADS = 2
_DRIVERS, _KILLS = "two drivers and a writer", "dbt killed"
# Catalogs in which two drivers race, by their part.
_IN_CATALOGS = {"hive": "Iceberg in a Hive catalog without locks", "jdbc": "Iceberg in a JDBC catalog"}
_PARTS = ("states", "drivers", *_IN_CATALOGS, "kills")


@dataclass(frozen=True)
class Tried:
    """The faults tried for one kind of refresh, or in another scenario: counts by kind, and failures.

    version  the last commit that changed the code that was tried
    """

    name: str
    version: str
    counts: dict[str, int]
    failures: list[str]

    @property
    def states(self) -> int:
        return sum(self.counts.get(fault, 0) for fault in FAULTS)

    def __str__(self) -> str:
        counts = ", ".join(f"{number} {what}" for what, number in self.counts.items())
        return "\n  ".join([f"{self.name}: {counts}; {len(self.failures)} went wrong", *self.failures])


class Results:
    """What was tried, by its name; kept in a file.

    missing  whether what other versions of the code passed counts as tried
    """

    def __init__(self, path: Path | None, version: str, *, missing: bool) -> None:
        self._path, self._version, self._missing = path, version, missing
        self._lock = threading.Lock()
        there = json.loads(path.read_text()) if path is not None and path.exists() else []
        self.tried = {one["name"]: Tried(**one) for one in there}

    def of(self, name: str, attempt: Callable[[], Tried]) -> None:
        """Try something, unless it was tried and went well."""
        known = self.tried.get(name)
        if known is not None and (self._missing or known.version == self._version) and not known.failures:
            return
        started = time.monotonic()
        try:
            tried = attempt()
        except Exception:  # the kind itself is broken; the other kinds still run
            tried = Tried(name, self._version, {}, [f"{name}: {traceback.format_exc()}"])
        print(f"{tried}, {time.monotonic() - started:.0f} s", flush=True)
        with self._lock:
            self.tried[name] = tried
            if self._path is not None:
                rows = [json.dumps(asdict(one)) for one in self.tried.values()]
                self._path.write_text("[\n" + ",\n".join(rows) + "\n]\n")


def code_version() -> str:
    """The last commit that changed what a refresh runs."""
    command = ["git", "log", "-1", "--format=%h", "--", "python_helpers", "dbt", "macros"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def try_kind(spark: SparkSession, kind: Kind, most: int | None, version: str) -> Tried:
    """All faults at all statements of a kind, or the first `most` of them."""
    world = World(spark, kind)
    tried = Tried(kind.name, version, {"statements": world.boundaries, **dict.fromkeys(FAULTS, 0)}, [])
    boundaries = world.boundaries
    for fault in all_faults(boundaries)[:most]:
        try:
            happened = world.disturbed(fault)
            if not happened:
                # Later refreshes may send fewer statements, for example over larger tables: disturb a first one.
                world.close()
                world = World(spark, kind, boundaries)
                happened = world.disturbed(fault)
            tried.counts[fault.what] += happened
        except Failure as failure:
            tried.counts[fault.what] += 1
            tried.failures.append(f"{kind.name}, {fault}: {failure}")
            world.close()
            world = World(spark, kind)
    world.close()
    return tried


def try_all(
    spark: SparkSession, kinds: Sequence[Kind], most: int | None, version: str, results: Results
) -> None:
    """Two kinds at a time, each in its own schema. The assumed state size is set for the whole process."""
    for size in SIZES:
        chosen = [kind for kind in kinds if kind.size == size]
        with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(_THREADS) as pool:
            take_states_for(size, patch)

            def attempt(kind: Kind) -> None:
                results.of(kind.name, lambda: try_kind(spark, kind, most, version))

            list(pool.map(attempt, chosen))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", default="", help="only kinds whose names contain this")
    parser.add_argument("--most", type=int, default=None, help="faults of each kind; all by default")
    parser.add_argument("--rounds", type=int, default=200, help="of two drivers and a writer")
    parser.add_argument("--kills", type=int, default=50, help="of dbt and its JVM")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", nargs="+", choices=_PARTS, default=_PARTS, help="what to try")
    parser.add_argument("--results", type=Path, help="what was tried so far, and is not tried again")
    parser.add_argument("--missing", action="store_true", help="only what no version was tried with")
    parser.add_argument("--page", type=Path, help="where the counts are written")
    arguments = parser.parse_args()
    kinds = [kind for kind in KINDS if arguments.kind in kind.name]
    version = code_version()
    results = Results(arguments.results, version, missing=arguments.missing)

    def drivers() -> Tried:
        wrong = two_drivers(spark, arguments.rounds, arguments.seed)
        return Tried(_DRIVERS, version, {"rounds": arguments.rounds}, wrong)

    def drivers_in(catalog: str) -> Tried:
        wrong = two_drivers_in(spark, catalog, arguments.rounds, arguments.seed)
        return Tried(_IN_CATALOGS[catalog], version, {"rounds": arguments.rounds}, wrong)

    def killed() -> Tried:
        number, wrong = kills(home / "killed", arguments.kills, arguments.seed)
        return Tried(_KILLS, version, {"times": number}, wrong)

    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        settings = {
            **SETTINGS,
            **METASTORE,
            "spark.jars.packages": PACKAGES,
            **catalog_of_iceberg(ICE, home),
            **hive_catalog("hive", home),
            **jdbc_catalog("jdbc", home),
        }
        start(session_settings(settings, home), home)
        spark = SparkSession.builder.getOrCreate()
        if "states" in arguments.parts:
            try_all(spark, kinds, arguments.most, version, results)
        if "drivers" in arguments.parts:
            results.of(_DRIVERS, drivers)
        for catalog, name in _IN_CATALOGS.items():
            if catalog in arguments.parts:
                results.of(name, partial(drivers_in, catalog))
        spark.stop()
        if "kills" in arguments.parts:
            results.of(_KILLS, killed)
    tried = results.tried
    failures = sum(len(one.failures) for one in tried.values())
    print(f"{sum(one.states for one in tried.values())} states, {failures} failures")
    missing = {*(kind.name for kind in KINDS), _DRIVERS, *_IN_CATALOGS.values(), _KILLS} - tried.keys()
    if arguments.page and not missing:
        arguments.page.write_text(page(tried))
    elif arguments.page:
        print(f"{arguments.page} is not written yet: {len(missing)} kinds or parts were never tried")
    return 1 if failures else 0


def page(tried: Mapping[str, Tried]) -> str:
    """docs/reliability.md: what was tried, and the result."""
    kinds, drivers, killed = [tried[kind.name] for kind in KINDS], tried[_DRIVERS], tried[_KILLS]
    in_catalogs = {what: tried[what] for what in _IN_CATALOGS.values()}
    columns = ("statements", *FAULTS)
    unfinished = [one.name for one in kinds if 2 * one.counts[FAULTS[0]] < one.counts["statements"]]
    lines = [
        "# Reliability",
        "",
        "If a refresh is killed, runs twice or loses its connection, readers see the old rows or the new ones, never a mixture. The next",
        "`dbt run` finishes what is missing. You do not have to repair anything.",
        "",
        "`make chaos` tests this, and wrote this page. It disturbs each kind of refresh at the statements that it sends, in four ways: the",
        "driver is killed before the statement, or after it; the statement is executed twice; its answer is lost. Then one ordinary run",
        "follows in a new process. After it the view and its hidden columns equal a recomputation, the next run has nothing to do, and",
        "relations of others are as they were.",
        "",
        "In some rows there are fewer faults than statements. In most of these rows the first refresh sends one statement that later ones",
        "do not need, so this statement was not disturbed.",
        *(f"For `{name}` only the first statements were disturbed." for name in unfinished),
        "",
        f"| kind of refresh | {' | '.join(columns)} | not repaired |",
        "|---|" + "---|" * (len(columns) + 1),
        *(
            f"| {one.name} | {' | '.join(str(one.counts.get(column, 0)) for column in columns)} | {len(one.failures)} |"
            for one in kinds
        ),
        "",
        f"{sum(one.states for one in kinds)} faults, at {_versions(kinds)}. In {sum(len(one.failures) for one in kinds)} cases "
        "were rows lost or duplicated, was a manual repair needed, or was a relation of another owner changed.",
        "",
        "Two drivers refreshed the same views at the same time while a third party wrote to the sources: "
        f"{drivers.counts.get('rounds', 0)} rounds at {_versions([drivers])}, {len(drivers.failures)} wrong.",
        "",
        "The same with all tables in Iceberg, while in most rounds somebody also wrote to the state (rollback, DELETE, INSERT, ALTER,",
        "compaction). "
        + "; ".join(
            f"{what}: {one.counts.get('rounds', 0)} rounds at {_versions([one])}, {len(one.failures)} wrong"
            for what, one in in_catalogs.items()
        )
        + ".",
        "",
        f"dbt and its JVM were killed {killed.counts.get('times', 0)} times in the middle of a run, at {_versions([killed])}. "
        f"The next `dbt build` failed {len(killed.failures)} times.",
        "",
    ]
    return "\n".join(lines)


def _versions(tried: Sequence[Tried]) -> str:
    return "version " + ", ".join(sorted({one.version for one in tried}))


if __name__ == "__main__":
    sys.exit(main())
