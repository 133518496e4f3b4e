"""Refreshes of a view in turn with builds of the same model as a table, after the same changes.

A round is a change batch, then both arms, the other arm first each time: for each case by itself, or for
all of them in one dbt run per arm. The first round warms up, the last one counts jobs and bytes with the
event log on; the rounds between are timed. Cases with the same recipe share their batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.cases import Case, by_recipe
from benchmarks.changes import NOTHING, Recipe, SourceChanges
from benchmarks.dbt_runner import DbtProject, NodeRun
from benchmarks.errors import BenchmarkError
from benchmarks.event_log import EventLog, Work

VIEW_SCHEMA, TABLE_SCHEMA = "bench", "bench_full"  # the schemas of the two targets of the bench project


@dataclass
class Timings:
    """The timed runs of one case and what the counted run read."""

    case: Case
    refreshes: list[NodeRun] = field(default_factory=list)
    builds: list[NodeRun] = field(default_factory=list)
    refresh_work: Work = field(default_factory=Work)
    build_work: Work = field(default_factory=Work)


@dataclass(frozen=True)
class Result:
    """One line of the result: medians of the timed rounds; the work is that of the round that was counted."""

    case: str
    full_s: float
    refresh_s: float
    ratio: float
    statements: int | None
    jobs: int
    rows_read: int
    bytes_read: int
    cpu_s: float
    full_jobs: int
    full_rows_read: int
    full_bytes_read: int
    full_cpu_s: float
    mode: str
    apply_form: str
    strategies: dict[str, str]  # operator -> strategy
    python_s: float | None  # parse, compile and decide; no Spark
    reason: str
    explanation: str
    refresh_runs_s: list[float]
    full_runs_s: list[float]

    @staticmethod
    def of(timings: Timings) -> Result:
        """Summarize the runs of one case."""
        refreshes, builds = timings.refreshes, timings.builds
        refresh_s = median(run.seconds for run in refreshes)
        full_s = median(run.seconds for run in builds)
        compile_s = [float(run.response["compile_s"]) for run in refreshes if "compile_s" in run.response]
        statements = [run.n_statements for run in refreshes if run.n_statements is not None]
        return Result(
            case=timings.case.name,
            full_s=round(full_s, 3),
            refresh_s=round(refresh_s, 3),
            ratio=round(refresh_s / full_s, 3),
            statements=round(median(statements)) if statements else None,
            jobs=timings.refresh_work.jobs,
            rows_read=timings.refresh_work.rows_read,
            bytes_read=timings.refresh_work.bytes_read,
            cpu_s=timings.refresh_work.cpu_s,
            full_jobs=timings.build_work.jobs,
            full_rows_read=timings.build_work.rows_read,
            full_bytes_read=timings.build_work.bytes_read,
            full_cpu_s=timings.build_work.cpu_s,
            mode=seen(run.mode for run in refreshes),
            apply_form=seen(run.apply_form for run in refreshes),
            strategies=refreshes[-1].strategies,
            python_s=round(median(compile_s), 4) if compile_s else None,
            reason=seen(run.reason for run in refreshes),
            explanation=str(refreshes[-1].response.get("explanation") or ""),
            refresh_runs_s=[round(run.seconds, 3) for run in refreshes],
            full_runs_s=[round(run.seconds, 3) for run in builds],
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def seen(values: Iterable[str]) -> str:
    """The value that all runs agree on, or all values with their counts: `append ×2, merge ×1`."""
    counts = Counter(values)
    if len(counts) <= 1:
        return next(iter(counts), "")
    return ", ".join(f"{value or '-'} ×{n}" for value, n in counts.most_common())


class Measurement:
    """Runs the rounds of a list of cases on loaded sources."""

    def __init__(
        self,
        spark: SparkSession,
        changes: SourceChanges,
        views: DbtProject,
        tables: DbtProject,
        event_log: EventLog,
        say: Callable[[str], None],
    ) -> None:
        self._spark = spark
        self._changes = changes
        self._views = views
        self._tables = tables
        self._event_log = event_log
        self._say = say

    def measure(self, cases: Sequence[Case], repeat: int, *, together: bool) -> list[Result]:
        """Build everything once, run all rounds, check each view at the end.

        together  all cases of a recipe in one dbt run, in which views share what they read of the changes
        Returns: one result per case, in the order of `cases`.
        Raises: BenchmarkError if a run fails or a view is not equal to its table.
        """
        for model in dict.fromkeys(case.model for case in cases):
            for project, arm in ((self._tables, "table"), (self._views, "view")):
                (run,) = project.run(model)
                self._say(f"first build of {model} as {arm}: {run.seconds:.1f} s ({run.mode})")
        results: dict[str, Result] = {}
        for recipe, group in by_recipe(cases).items():
            self._say(f"-- {recipe.name}")
            for timings in self._rounds(recipe, group, repeat, together):
                results[timings.case.name] = Result.of(timings)
            # The last round left both arms at the same sources.
            for case in group:
                self._check(case)
        return [results[case.name] for case in cases]

    def _rounds(self, recipe: Recipe, group: Sequence[Case], repeat: int, together: bool) -> list[Timings]:
        measured = [Timings(case) for case in group]
        runs = [measured] if together else [[timings] for timings in measured]
        for number in range(repeat + 2):
            kind = _kind(number, repeat)
            if recipe is not NOTHING:
                self._say(f"{kind}: changed {self._changes.apply(recipe)} in the sources")
            for one_run in runs:
                if number == repeat + 1:
                    self._count(one_run)
                    continue
                for timings, refresh, build in self._both_arms(one_run, view_first=number % 2 == 0):
                    self._say(_pair(kind, timings.case.name, refresh, build))
                    if number > 0:
                        timings.refreshes.append(refresh)
                        timings.builds.append(build)
        return measured

    def _both_arms(
        self, cases: Sequence[Timings], *, view_first: bool
    ) -> list[tuple[Timings, NodeRun, NodeRun]]:
        """Each case with its refresh and its build."""
        models = [timings.case.model for timings in cases]
        arms = (self._views, self._tables) if view_first else (self._tables, self._views)
        runs = {arm: {run.name: run for run in arm.run(*models)} for arm in arms}
        return [
            (timings, runs[self._views][model], runs[self._tables][model])
            for timings, model in zip(cases, models, strict=True)
        ]

    def _count(self, cases: Sequence[Timings]) -> None:
        with self._event_log.recording() as recording:
            counted = self._both_arms(cases, view_first=True)
        for timings, refresh, build in counted:
            if refresh.interval is None or build.interval is None:
                raise BenchmarkError(f"dbt reported no execution interval for {timings.case.model}")
            timings.refresh_work = recording.work(refresh.interval)
            timings.build_work = recording.work(build.interval)
            self._say(
                f"counted {timings.case.name}: refresh {timings.refresh_work.jobs} jobs, "
                f"table {timings.build_work.jobs} jobs"
            )

    def _check(self, case: Case) -> None:
        view, table = f"{VIEW_SCHEMA}.{case.model}", f"{TABLE_SCHEMA}.{case.model}"
        n_different = bag_difference(self._spark, view, table)
        if n_different:
            raise BenchmarkError(f"{case.name}: view and table differ in {n_different:,} distinct rows")
        self._say(f"{case.name}: the view equals the table")


def bag_difference(spark: SparkSession, one: str, other: str) -> int:
    """In how many distinct rows two relations differ, counting copies: EXCEPT ALL both ways, in one pass.

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


def _pair(kind: str, name: str, refresh: NodeRun, build: NodeRun) -> str:
    did = " ".join(part for part in (refresh.mode, refresh.apply_form, refresh.reason) if part)
    return f"{kind}: {name} refresh {refresh.seconds:.2f} s ({did}), table {build.seconds:.2f} s"
