"""Alternates refreshes with builds of the same models as tables, after the same changes.

A round is a change batch, then both arms, with a different arm first each time: separately for each case, or
for all cases in one dbt run per arm. The first round warms up, and the last one, with the event log on,
counts; the rounds between are timed. Cases with the same change share their batches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.cases import Case, Change, by_change
from benchmarks.dbt_runner import DbtProject, Execution
from benchmarks.errors import BenchmarkError
from benchmarks.event_log import EventLog
from benchmarks.result import Result, Timings
from benchmarks.statements import NOTHING, StatementChanges


class Measurement:
    """Runs the rounds of a list of cases on loaded sources."""

    def __init__(
        self,
        spark: SparkSession,
        sources: StatementChanges,
        views: DbtProject,
        tables: DbtProject,
        event_log: EventLog,
        say: Callable[[str], None],
    ) -> None:
        self._spark = spark
        self._sources = sources
        self._views = views
        self._tables = tables
        self._event_log = event_log
        self._say = say

    def measure(
        self,
        cases: Sequence[Case],
        repeat: int,
        *,
        together: bool = False,
        labels: Mapping[str, Any] | None = None,
    ) -> list[Result]:
        """Build everything once, run all rounds, and check each view at the end.

        together  all cases of a change in one dbt run, in which views share their reads of the changes
        labels    labels of each result
        Returns: one result per case, in the order of `cases`.
        Raises: BenchmarkError if a run fails or a view differs from its table.
        """
        for models in dict.fromkeys(case.models for case in cases):
            for project, arm in ((self._tables, "table"), (self._views, "view")):
                run = project.run(*models)
                self._say(f"first build of {_named(models)} as {arm}: {run.seconds:.1f} s")
        results: dict[str, Result] = {}
        for change, group in by_change(cases).items():
            self._say(f"-- {change.name}")
            for timings in self._rounds(change, group, repeat, together):
                results[timings.case] = Result.of(timings, labels)
            # After the last round both arms reflect the same sources.
            self._check(group)
        return [results[case.name] for case in cases]

    def _rounds(self, change: Change, group: Sequence[Case], repeat: int, together: bool) -> list[Timings]:
        measured = {case: Timings(case.name) for case in group}
        runs = [group] if together else [[case] for case in group]
        for number in range(repeat + 2):
            kind = _kind(number, repeat)
            started = time.perf_counter()
            if change != NOTHING:
                self._say(f"{kind}: changed {self._sources.apply(change)} in the sources")
            change_s = time.perf_counter() - started
            for cases in runs:
                if number == repeat + 1:
                    self._count(cases, measured)
                    continue
                for case, refresh, build in self._both_arms(cases, view_first=number % 2 == 0):
                    self._say(_pair(kind, case.name, refresh, build))
                    if number > 0:
                        measured[case].refreshes.append(refresh)
                        measured[case].builds.append(build)
                        measured[case].changes_s.append(change_s)
        return list(measured.values())

    def _both_arms(
        self, cases: Sequence[Case], *, view_first: bool
    ) -> list[tuple[Case, Execution, Execution]]:
        """Each case with its refresh and its build."""
        models = [model for case in cases for model in case.models]
        arms = (self._views, self._tables) if view_first else (self._tables, self._views)
        runs = dict[DbtProject, Execution]()
        for arm in arms:
            if cases[0].change != NOTHING:
                self._sources.forget_snapshots()  # otherwise only the first arm would load them
            runs[arm] = arm.run(*models)
        views, tables = runs[self._views], runs[self._tables]
        return [(case, views.of(case.models), tables.of(case.models)) for case in cases]

    def _count(self, cases: Sequence[Case], measured: Mapping[Case, Timings]) -> None:
        with self._event_log.recording() as recording:
            counted = self._both_arms(cases, view_first=True)
        for case, refresh, build in counted:
            timings = measured[case]
            timings.refresh_work = recording.work(*refresh.intervals)
            timings.build_work = recording.work(*build.intervals)
            self._say(
                f"counted {case.name}: refresh {timings.refresh_work.jobs} jobs, "
                f"table {timings.build_work.jobs} jobs"
            )

    def _check(self, cases: Sequence[Case]) -> None:
        for case in cases:
            for model in case.models or self._views.models:
                view, table = f"{self._views.schema}.{model}", f"{self._tables.schema}.{model}"
                n_different = bag_difference(self._spark, view, table)
                if n_different:
                    raise BenchmarkError(
                        f"{case.name}: view and table {model} differ in {n_different:,} distinct rows"
                    )
            self._say(f"{case.name}: the views equal the tables")


def bag_difference(spark: SparkSession, one: str, other: str) -> int:
    """The number of distinct rows in which two relations differ: EXCEPT ALL both ways in one pass.

    Raises: BenchmarkError if their columns differ.
    """
    columns = spark.table(one).columns
    if columns != spark.table(other).columns:
        raise BenchmarkError(f"{one} has the columns {columns}, {other} has {spark.table(other).columns}")
    listed = ", ".join(f"`{column}`" for column in columns)
    (row,) = spark.sql(f"""
        select count(*) as n from (
          select {listed} from (
            select {listed}, 1 as copies from {one}
            union all
            select {listed}, -1 as copies from {other}
          )
          group by {listed} having sum(copies) <> 0
        )
    """).collect()
    return int(row.n)


def _kind(number: int, repeat: int) -> str:
    if number == 0:
        return "warm-up"
    return f"round {number} of {repeat}" if number <= repeat else "counted"


def _named(models: Sequence[str]) -> str:
    return ", ".join(models) or "the project"


def _pair(kind: str, name: str, refresh: Execution, build: Execution) -> str:
    if len(refresh.nodes) == 1:
        (node,) = refresh.nodes
        did = " ".join(part for part in (node.mode, node.apply_form, node.reason) if part)
    else:
        did = f"{len(refresh.nodes)} views"
    return f"{kind}: {name} refresh {refresh.seconds:.2f} s ({did}), table {build.seconds:.2f} s"
