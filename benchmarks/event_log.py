"""Spark's work in an interval, from its event log: statements, jobs, rows and bytes read, CPU time.

On a local file system the bytes are correct only with parquet's vectored IO off, because that reads on
threads whose statistics Spark does not see.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

_STATEMENT = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart"
_RELEVANT = tuple(
    f'{{"Event":"{name}"' for name in ("SparkListenerJobStart", "SparkListenerTaskEnd", _STATEMENT)
)
_RESULT_OF_COMMAND = "CommandResult"  # the rows of a command, collected after it ran
_OF_CODE = {"WholeStageCodegen", "InputAdapter"}  # nodes for how a plan is run, not what it does


@dataclass(frozen=True)
class Interval:
    """A closed interval of time, in UTC."""

    start: datetime
    end: datetime

    def holds(self, epoch_ms: int) -> bool:
        """Whether a Spark timestamp (milliseconds since 1970) lies in it."""
        # Spark truncates to milliseconds, so we truncate the start too.
        return _epoch_ms(self.start) <= epoch_ms <= _epoch_ms(self.end) + 1


def _epoch_ms(moment: datetime) -> int:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return int(aware.timestamp() * 1000)


@dataclass(frozen=True)
class Work:
    """Spark's work in an interval."""

    statements: int = 0  # SQL statements; without those that Delta runs itself, whose jobs do count
    jobs: int = 0
    tasks: int = 0
    plan_nodes: int = 0  # of all plans before execution
    rows_read: int = 0
    bytes_read: int = 0
    cpu_s: float = 0.0  # of executor threads, without the driver

    def __add__(self, other: Work) -> Work:
        return Work(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


def read_work(lines: Iterable[str], interval: Interval) -> Work:
    """Add up the statements and jobs that started in the interval, from the lines of an event log."""
    stages: set[int] = set()
    statements = jobs = tasks = plan_nodes = rows_read = bytes_read = cpu_ns = 0
    for line in lines:
        if not line.startswith(_RELEVANT):
            continue
        event = json.loads(line)
        if event["Event"] == _STATEMENT:
            if interval.holds(event["time"]):
                statements += _is_statement(event)
                plan_nodes += _nodes(event["sparkPlanInfo"])
        elif event["Event"] == "SparkListenerJobStart":
            if interval.holds(event["Submission Time"]):
                jobs += 1
                stages.update(event["Stage IDs"])
        elif event["Stage ID"] in stages:
            metrics = event.get("Task Metrics") or {}  # a killed task has none
            read = metrics.get("Input Metrics", {})
            tasks += 1
            rows_read += read.get("Records Read", 0)
            bytes_read += read.get("Bytes Read", 0)
            cpu_ns += metrics.get("Executor CPU Time", 0)
    return Work(statements, jobs, tasks, plan_nodes, rows_read, bytes_read, round(cpu_ns / 1e9, 3))


def _is_statement(event: Mapping[str, Any]) -> bool:
    is_root = event.get("rootExecutionId", event["executionId"]) == event["executionId"]
    of_delta = event["description"].startswith("Delta:")
    return is_root and not of_delta and event["sparkPlanInfo"]["nodeName"] != _RESULT_OF_COMMAND


def _nodes(plan: Mapping[str, Any]) -> int:
    name = plan["nodeName"].partition(" (")[0]
    counts = name not in _OF_CODE and name != _RESULT_OF_COMMAND
    return counts + sum(_nodes(child) for child in plan["children"])


class EventLog:
    """Spark's own event log, written only on demand.

    The log contains every plan as text, several times. For a whole run (`spark.eventLog.enabled`) it would
    grow by tens of megabytes per minute and slow down what is timed.
    """

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self._spark = spark
        self._directory = directory
        self._files = 0

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Log all events while the block runs, with vectored IO off; the recording can be read afterwards."""
        self._files += 1
        directory = self._directory / f"recording-{self._files}"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        context = self._spark.sparkContext._jsc.sc()
        jvm = self._spark._jvm
        assert jvm is not None
        conf = context.conf().clone()
        conf.set("spark.eventLog.rolling.enabled", "false").set("spark.eventLog.compress", "false")
        listener = jvm.org.apache.spark.scheduler.EventLoggingListener(
            context.applicationId(), jvm.scala.Option.empty(), jvm.java.net.URI(directory.as_uri()), conf
        )
        hadoop = context.hadoopConfiguration()
        vectored = "parquet.hadoop.vectored.io.enabled"
        hadoop.set(vectored, "false")
        listener.start()
        context.addSparkListener(listener)
        recording = Recording(directory)
        try:
            yield recording
        finally:
            context.listenerBus().waitUntilEmpty()
            context.removeSparkListener(listener)
            listener.stop()
            hadoop.unset(vectored)


@dataclass(frozen=True)
class Recording:
    """The event log files of one block."""

    directory: Path

    def work(self, *intervals: Interval) -> Work:
        """Spark's work in the intervals, which must not overlap."""
        (file,) = (path for path in self.directory.iterdir() if not path.name.startswith("."))
        total = Work()
        for interval in intervals:
            with file.open(encoding="utf-8") as lines:
                total += read_work(lines, interval)
        return total
