"""What the suites share: one Spark, its event log, the sources, and the two arms of a dbt project."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.changes import SourceChanges
from benchmarks.dbt_runner import DbtProject
from benchmarks.event_log import EventLog
from benchmarks.measure import Measurement
from benchmarks.paths import BENCH_PROJECT, BUILD
from benchmarks.progress import step
from benchmarks.result import Result
from benchmarks.spark_session import start_spark
from benchmarks.statements import StatementChanges
from benchmarks.tpch_data import generate, load

OUTPUT = BUILD / "bench"


@dataclass(frozen=True)
class Outcome:
    """The results of a suite, and its notes below the table."""

    results: Sequence[Result]
    notes: Sequence[str] = ()
    picture: str = ""  # SVG, unless it is one bar per result


class Bench:
    """One run of a suite on the command line."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self._started = time.perf_counter()

    def say(self, text: str) -> None:
        print(f"[{time.perf_counter() - self._started:5.0f} s] {text}", flush=True)

    @cached_property
    def spark(self) -> SparkSession:
        options = self.options
        with step("start Spark"):
            return start_spark(
                OUTPUT / "spark",
                cores=options.cores,
                memory=options.memory,
                in_memory_catalog=options.catalog == "in-memory",
                states=options.states,
            )

    @cached_property
    def event_log(self) -> EventLog:
        return EventLog(self.spark, OUTPUT / "events")

    def stop(self) -> None:
        if "spark" in self.__dict__:
            self.spark.stop()

    def repeat(self, default: int) -> int:
        """The number of timed rounds."""
        return int(self.options.repeat or default)

    def tpch(self, scale: float, of: str = "") -> SourceChanges:
        """Load TPC-H into the schema `tpch` with the suffix `of`, which is created again."""
        options = self.options
        with step(f"generate TPC-H at scale factor {scale:g}"):
            parquet = generate(scale)
        load(self.spark, parquet, f"tpch{of}", deletion_vectors=options.source_deletion_vectors)
        return SourceChanges(
            self.spark,
            f"tpch{of}",
            scale,
            placement=options.keys,
            updated=options.updated,
            seed=options.seed,
        )

    def arms(
        self, project: Path = BENCH_PROJECT, of: str = "", variables: Mapping[str, str] | None = None
    ) -> tuple[DbtProject, DbtProject]:
        """The project as views and as tables, parsed; `of` is the suffix of the schemas."""
        options = self.options
        targets = ("calibration" if options.calibrate else "view", "table")
        given = {
            "of": of,
            "refresh_mode": options.refresh_mode,
            "states": options.states,
            **(variables or {}),
        }
        views, tables = (
            DbtProject(project, target, OUTPUT / project.name, threads=options.threads, variables=given)
            for target in targets
        )
        with step("parse the dbt project"):
            tables.parse()
            views.parse()
        return views, tables

    def measurement(self, sources: StatementChanges, views: DbtProject, tables: DbtProject) -> Measurement:
        return Measurement(self.spark, sources, views, tables, self.event_log, self.say)
