"""The demo's parts: the data and the views are made by `sparkivm server`; then tables and views are timed.

Each of the two arms has its own process and Spark, so neither profits from a Spark that the other warmed up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from dbt.adapters.sparkivm.session_defaults import StateFormat
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from benchmarks.changes import INSERTS_AND_DELETES, SourceChanges
from benchmarks.dbt_runner import DbtProject, Execution, NodeRun
from benchmarks.errors import BenchmarkError, sentence
from benchmarks.event_log import EventLog, Work
from benchmarks.paths import BUILD, DEMO_PROJECT
from benchmarks.progress import headline, step
from benchmarks.spark_session import kept_spark, start_spark
from benchmarks.statements import RowCounts
from benchmarks.tpch_data import load

SOURCE_SCHEMA = "tpch"
OUTPUT = BUILD / "demo"
T = TypeVar("T")


@dataclass(frozen=True)
class Conditions:
    """The conditions of the whole demo."""

    scale: float
    cores: int
    memory: str
    states: StateFormat = "delta"
    counts: bool = False  # whether each arm runs once more, to count Spark's work

    @property
    def of_spark(self) -> dict[str, Any]:
        """The arguments with which its Spark is started."""
        return {"cores": self.cores, "memory": self.memory, "states": self.states}


@dataclass(frozen=True)
class Arm:
    """The runs of one arm, in one process."""

    spark_start_s: float
    fresh: Execution
    warm: Execution
    unchanged: Execution | None = None  # views only: a run without changes
    work: Work | None = None  # of the counted run
    work_of_models: dict[str, Work] | None = None


def in_fresh_process(function: Callable[..., T], *arguments: object) -> T:
    """Call a function of this module in a new Python process, and so with a new Spark."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_plain_errors, function, *arguments).result()


def prepare(parquet: Path, conditions: Conditions) -> tuple[list[NodeRun], Execution]:
    """Load the sources, create the views, and refresh them in a fresh process, all by `sparkivm server`.

    Returns: the runs that created the views, and the refresh.
    """
    with kept_spark(DEMO_PROJECT / ".spark", **conditions.of_spark):
        created = in_fresh_process(_create_views, parquet, conditions)
        return created, in_fresh_process(_refresh_by_server, conditions)


def _create_views(parquet: Path, conditions: Conditions) -> list[NodeRun]:
    load(_session(conditions), parquet, SOURCE_SCHEMA)
    _project("tables", conditions).parse()  # all arms find dbt's saved parse of the project
    headline("2. dbt run: the views are created")
    created = _project("views", conditions, threads=conditions.cores).run().nodes
    return [node for node in created if node.mode == "create"]


def _refresh_by_server(conditions: Conditions) -> Execution:
    _change(_session(conditions), conditions, batch=1)
    headline("3. dbt run: the views are refreshed; a new process finds the warm Spark of `sparkivm server`")
    return _project("views", conditions).run()


def _session(conditions: Conditions) -> SparkSession:
    """Of the server if it runs, else of a new Spark."""
    os.chdir(DEMO_PROJECT)  # paths in the profile are relative to it
    return start_spark(DEMO_PROJECT / ".spark", **conditions.of_spark, keep=True)


def run_tables(conditions: Conditions) -> Arm:
    """Build the models as tables, change the sources, and build them again."""
    with _spark(conditions) as (spark, spark_start_s):
        tables = _project("tables", conditions)
        headline("4. dbt run --target tables: the same models as tables, to compare")
        fresh = tables.run()
        _change(spark, conditions, batch=2)
        headline("   dbt run --target tables: rebuilt, by a Spark that is warm")
        warm = tables.run()
        work, work_of_models = _counted(spark, tables, conditions)
    return Arm(spark_start_s, fresh, warm, None, work, work_of_models)


def run_views(conditions: Conditions) -> Arm:
    """Refresh, change the sources, refresh again; then test the views, and run once more without changes."""
    with _spark(conditions) as (spark, spark_start_s):
        views = _project("views", conditions)
        headline("5. dbt run: the views are refreshed from these changes, in a fresh process")
        fresh = views.run()
        _change(spark, conditions, batch=3)
        headline("   dbt run: refreshed again, by a Spark that is warm")
        warm = views.run()
        headline("6. dbt test: each view equals its SELECT, row by row")
        tests = _project("views", conditions, threads=conditions.cores).test()
        n_views = sum(bool(node.response.get("mode")) for node in warm.nodes)
        if len(tests) < n_views:
            raise BenchmarkError(f"only {len(tests)} of {n_views} views have a consistency test")
        headline("7. dbt run: nothing has changed")
        unchanged = views.run()
        for one in unchanged.nodes:
            if one.mode not in {"no_op", "table"}:
                raise BenchmarkError(
                    f"nothing had changed, but {one.name} was refreshed ({one.mode}) {one.reason}"
                )
        if conditions.counts:
            _change(spark, conditions, batch=4)
        work, work_of_models = _counted(spark, views, conditions)
    return Arm(spark_start_s, fresh, warm, unchanged, work, work_of_models)


def _project(target: str, conditions: Conditions, threads: int = 1) -> DbtProject:
    """threads  what is timed has one, so that a model's seconds are its own"""
    variables = {"states": conditions.states}
    return DbtProject(DEMO_PROJECT, target, OUTPUT, quiet=False, threads=threads, variables=variables)


@contextmanager
def _spark(conditions: Conditions) -> Iterator[tuple[SparkSession, float]]:
    """A new Spark on the demo's catalog, and the seconds that its start took."""
    started = time.perf_counter()
    with step("start Spark"):
        spark = _session(conditions)
    try:
        yield spark, time.perf_counter() - started
    finally:
        spark.stop()


def _change(spark: SparkSession, conditions: Conditions, batch: int) -> None:
    """Insert, update, delete and MERGE in five tables, and print what each statement changed."""
    headline("   the sources change" + (" again" if batch > 1 else ""))
    changes = SourceChanges(spark, SOURCE_SCHEMA, conditions.scale, placement="recent")
    for _ in range(1, batch):
        changes.skip(INSERTS_AND_DELETES)
    steps: Sequence[tuple[str, Callable[[], RowCounts]]] = (
        ("insert 0.1 % of orders, delete as many recent ones", partial(changes.apply, INSERTS_AND_DELETES)),
        ("update lineitems: some of recent orders are returned", changes.update_lineitems),
        ("update customers: some move to another nation", changes.update_customers),
        ("merge suppliers: new balances, new suppliers", changes.merge_suppliers),
        ("delete parts", changes.delete_parts),
    )
    for text, change in steps:
        with step(text):
            counts = change()
        print(f"  {counts}", flush=True)


def _counted(
    spark: SparkSession, project: DbtProject, conditions: Conditions
) -> tuple[Work | None, dict[str, Work] | None]:
    if not conditions.counts:
        return None, None
    headline("   dbt run, to count what Spark does")
    with EventLog(spark, OUTPUT / "events").recording() as recording:
        run = project.run()
    of_models = {node.name: recording.work(*run.of([node.name]).intervals) for node in run.nodes}
    return recording.work(*run.intervals), of_models


def _plain_errors(function: Callable[..., T], *arguments: object) -> T:
    """Replace Spark's errors, which cannot be passed from one process to another."""
    try:
        return function(*arguments)
    except (PySparkException, Py4JError) as error:
        raise BenchmarkError(sentence(error)) from None
