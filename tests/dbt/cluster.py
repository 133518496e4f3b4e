"""A standalone Spark cluster and an S3-compatible store on this machine.

The cluster's classes ship with pyspark. Its driver is the thrift server that dbt connects to. For test_cluster.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pyspark

from tests.dbt.thrift_server import free_port, start_server

SPARK_HOME = Path(pyspark.__file__).parent
# For the Hadoop of pyspark 4.1.
S3A = ("org.apache.hadoop:hadoop-aws:3.4.2", "software.amazon.awssdk:bundle:2.29.52")
_BUCKET = "lake"
_DEADLINE_S = 120


class Store:
    """A server that keeps S3 objects in memory."""

    def __init__(self, directory: Path) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        host, port = self.address.split(":")
        command = [sys.executable, "-m", "moto.server", "-H", host, "-p", port]
        self._process = _started(command, directory / "store.log")
        _wait_until(self._has_bucket)

    def stop(self) -> None:
        _end(self._process)

    @property
    def settings(self) -> dict[str, str]:
        """Spark's settings for tables in the store."""
        s3a = {
            "endpoint": f"http://{self.address}",
            "endpoint.region": "us-east-1",
            "path.style.access": "true",
            "access.key": "test",
            "secret.key": "test",
        }
        hadoop = {f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()}
        return {**hadoop, "spark.sql.warehouse.dir": f"s3a://{_BUCKET}/warehouse"}

    def _has_bucket(self) -> bool:
        try:
            with urlopen(Request(f"http://{self.address}/{_BUCKET}", method="PUT"), timeout=5):
                return True
        except URLError:
            return False


class Cluster:
    """A master and workers of one core each, with a driver: a thrift server whose catalog survives it."""

    def __init__(self, directory: Path, store: Store, workers: int) -> None:
        self._directory, self._store = directory, store
        port = free_port()
        self._address = f"spark://127.0.0.1:{port}"
        self._master = self._spark_class("master", "--port", str(port))
        self._workers = [self._worker() for _ in range(workers)]
        self._driver: int | None = None

    def start_driver(self) -> None:
        settings = {
            **self._store.settings,
            "spark.master": self._address,
            "spark.driver.host": "127.0.0.1",
            "spark.executor.memory": "1g",
        }
        self.port, self._driver = start_server(self._directory / "driver", settings, S3A)

    def kill_driver(self) -> None:
        assert self._driver is not None
        os.kill(self._driver, signal.SIGKILL)
        self._driver = None

    def replace_worker(self) -> None:
        """Kill a worker with its executor; a new one joins the cluster."""
        _end(self._workers.pop(0))
        self._workers.append(self._worker())

    @property
    def executors(self) -> int:
        """How many executors were started so far, by all workers."""
        return len(list(self._directory.glob("work*/app-*/*")))

    def stop(self) -> None:
        if self._driver is not None:
            self.kill_driver()
        for process in (*self._workers, self._master):
            _end(process)

    def _worker(self) -> subprocess.Popen[bytes]:
        work = self._directory / f"work{time.monotonic_ns()}"
        return self._spark_class(
            "worker", self._address, "--cores", "1", "--memory", "1g", "--work-dir", str(work)
        )

    def _spark_class(self, role: str, *arguments: str) -> subprocess.Popen[bytes]:
        name = f"org.apache.spark.deploy.{role}.{role.title()}"
        command = [str(SPARK_HOME / "bin" / "spark-class"), name, "--host", "127.0.0.1"]
        return _started(
            [*command, "--webui-port", str(free_port()), *arguments],
            self._directory / f"{role}.log",
            SPARK_HOME=str(SPARK_HOME),
            SPARK_LOCAL_IP="127.0.0.1",
        )


def _started(command: list[str], log: Path, **environment: str) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, which has its children too."""
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdout=output,
            stderr=output,
            env={**os.environ, **environment},
            start_new_session=True,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _wait_until(reached: Callable[[], bool]) -> None:
    begun = time.monotonic()
    while not reached():
        assert time.monotonic() - begun < _DEADLINE_S
        time.sleep(0.2)
