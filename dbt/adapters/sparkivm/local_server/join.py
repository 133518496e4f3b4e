"""Uses a server's Spark in this process, as if the process had started it.

tested  tests/dbt/test_local_server.py
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dbt.adapters.exceptions.connection import FailedToConnectError
from dbt.adapters.sparkivm.environment import variable
from dbt.adapters.sparkivm.local_server.client import Refused, Server, ask_server
from dbt.adapters.sparkivm.log import logger
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway

_SWITCH = "DBT_SPARKIVM_SERVER"

_joined: Server | None = None  # this process is a client until it ends


def join_server(directory: Path, settings: Mapping[str, str]) -> bool:
    """Whether a server runs; its Spark is this process's Spark then.

    settings  with which this process would start a Spark
    Raises: FailedToConnectError if the server's Spark has other settings that no session can change.
    """
    global _joined
    if os.environ.get(_SWITCH, "").lower() in ("off", "false", "0"):
        return False
    try:
        server = ask_server(directory, want="spark", settings=dict(settings))
    except (Refused, OSError) as error:
        raise FailedToConnectError(str(error)) from error
    if server is None:
        return False
    _attach(server.answer["port"], server.answer["secret"])
    _joined = server
    logger.info(f"using the Spark of `sparkivm server` (process {server.record.pid})")
    return True


def _attach(port: int, secret: str) -> None:
    """Make the Spark behind a py4j gateway the one of this process."""
    with variable("PYSPARK_GATEWAY_PORT", str(port)), variable("PYSPARK_GATEWAY_SECRET", secret):
        gateway = launch_gateway()
    jvm: Any = gateway.jvm
    root = jvm.org.apache.spark.sql.classic.SparkSession.getDefaultSession().get()
    context = jvm.JavaSparkContext.fromSparkContext(root.sparkContext())
    conf = SparkConf(loadDefaults=False, _jconf=context.sc().conf())
    with _own_interrupts():
        SparkContext(gateway=gateway, jsc=context, conf=conf)


@contextmanager
def _own_interrupts() -> Generator[None, None, None]:
    """pyspark would make Ctrl-C end all jobs of the Spark, also those of other processes."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not before:
            signal.signal(signal.SIGINT, before)
