"""The Spark of the benchmarks and the demo, started like the adapter does, in its own directory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbt.adapters.sparkivm.local_server.client import Refused
from dbt.adapters.sparkivm.local_server.lifetime import start_server, stop_server
from dbt.adapters.sparkivm.session import join_or_start
from dbt.adapters.sparkivm.session_defaults import StateFormat, session_settings
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import SparkSession

from benchmarks.errors import BenchmarkError
from benchmarks.progress import step

_LONGEST_IDLE_S = 3600


def start_spark(
    directory: Path,
    *,
    cores: int = 2,
    memory: str = "6g",
    in_memory_catalog: bool = False,
    states: StateFormat = "delta",
    keep: bool = False,
) -> SparkSession:
    """Start Spark with the settings of method `session`; dbt runs in this process then use it too.

    They take it as it is: to them, somebody else started it, whatever directory the profile has.
    Catalog, tables and Spark's log are below `directory`, which is deleted first unless `keep` is set.

    Raises: BenchmarkError if Java is missing or Spark does not start.
    """
    if not keep:
        shutil.rmtree(directory, ignore_errors=True)
    settings = _settings(cores, memory)
    if in_memory_catalog:
        settings["spark.sql.catalogImplementation"] = "in-memory"
    settings = session_settings(settings, directory, states)
    try:
        return join_or_start(settings, directory).newSession()
    except DbtRuntimeError as error:
        raise BenchmarkError(str(error)) from error


@contextmanager
def kept_spark(directory: Path, *, cores: int, memory: str, states: StateFormat) -> Iterator[None]:
    """The Spark of a server, which `start_spark` with `keep` finds in other processes.

    The directory is deleted first.
    """
    stop_server(directory, now=True)
    shutil.rmtree(directory, ignore_errors=True)
    settings = session_settings(_settings(cores, memory), directory, states)
    try:
        with step("start `sparkivm server`"):
            start_server(directory, settings, project=directory.parent, idle_s=_LONGEST_IDLE_S)
    except Refused as error:
        raise BenchmarkError(str(error)) from error
    try:
        yield
    finally:
        stop_server(directory, now=True)


def _settings(cores: int, memory: str) -> dict[str, str]:
    return {
        "spark.master": f"local[{cores}]",
        "spark.sql.shuffle.partitions": str(cores),
        "spark.driver.memory": memory,
        "spark.sql.ansi.enabled": "false",  # as dbt-spark sets it
    }
