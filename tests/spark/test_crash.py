"""Drivers with their own JVM: some are killed during a refresh, one commits before us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkivm.names import TableName
from tests.spark.lab import FEED, Lab, View
from tests.spark.other_driver import request
from tests.spark.test_two_drivers import overtaken

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
SQL = "select k, count(*) as n, sum(x) as s, max(id) as last from {schema}.t group by k"


class OtherDriver:
    """The process, in a process group with its JVM."""

    def __init__(self, view: View, directory: Path) -> None:
        scratch = directory / "scratch"
        scratch.mkdir(parents=True)
        self._errors = (scratch / "stderr").open("w")
        arguments = [view.lab.schema, view.request.sql, str(directory / "tables"), str(scratch)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.other_driver", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'python_helpers'}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )

    def wait_until_ready(self) -> None:
        assert self._answer() == "ready", Path(self._errors.name).read_text()[-2000:]

    def begin_refresh(self) -> None:
        self._process.stdin.write("refresh\n")
        self._process.stdin.flush()

    def refresh(self) -> str:
        self.begin_refresh()
        return self._answer()

    def kill_when(self, reached: Callable[[], bool]) -> None:
        """kill -9 the driver and its JVM as soon as `reached` returns True."""
        while not reached():
            assert self._process.poll() is None, "it ended before it could be killed"
        self.end()
        assert self._process.stdout.read() == "", "it was killed too late: the refresh had ended"

    def end(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        assert self._process.wait() == -signal.SIGKILL
        self._errors.close()

    def _answer(self) -> str:
        return self._process.stdout.readline().strip()


class Case:
    """A view in a directory of its own, with pending changes, and the driver that will refresh it."""

    def __init__(self, spark, name: str, directory: Path) -> None:
        self.lab = Lab(spark, f"crash_{name}")
        self.tables = directory / "tables"
        self.lab.table(
            "t",
            "id int, k int, x int",
            "(1, 1, 1)",
            "(2, 1, 2)",
            clauses=f"location '{self.tables}/t' {FEED}",
        )
        self.view = View(
            self.lab, request(self.lab.schema, SQL.format(schema=self.lab.schema), self.tables)
        ).build()
        self.lab.run("insert into t values (3, 2, 4), (4, 1, 8)", "delete from t where id = 1")
        self.driver = OtherDriver(self.view, directory)

    def data_files(self) -> int:
        return len(list((self.tables / "m__ivm").glob("*.parquet")))

    def committed(self) -> bool:
        return (self.tables / "m__ivm" / "_delta_log" / f"{1:020}.json").exists()


@pytest.fixture(scope="module")
def cases(spark, tmp_path_factory) -> Iterator[dict[str, Case]]:
    """The drivers start at the same time, because starting takes most of their time."""
    made = {
        name: Case(spark, name, tmp_path_factory.mktemp(name)) for name in ("writing", "committed", "rival")
    }
    for case in made.values():
        case.driver.wait_until_ready()
    yield made
    for case in made.values():
        case.driver.end()


@pytest.mark.parametrize("point", ["writing", "committed"])
def test_killed_driver(cases, point):
    case = cases[point]
    files = case.data_files()
    reached = {
        "writing": lambda: case.data_files() > files,
        "committed": case.committed,
    }[point]
    case.driver.begin_refresh()
    case.driver.kill_when(reached)
    case.lab.session._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    if not case.committed():
        assert case.lab.rows("select * from m where k = 2") == []  # the view is unchanged
        case.view.must_be("incremental")
    else:
        case.view.must_be("no_op")
    assert case.view.state_differences() == []
    assert len(case.view.history()) == 2
    case.lab.run("insert into t values (5, 2, 16)")
    case.view.must_be("incremental")


def test_driver_of_another_process_is_faster(cases):
    """Both have read the frontier; the other driver commits first."""
    case = cases["rival"]
    modes = []
    result = overtaken(case.view, lambda: modes.append(case.driver.refresh())).refresh()
    assert (modes, result.mode) == (["incremental"], "no_op")
    case.view.check()
    assert case.view.state_differences() == []
    case.lab.run("update t set x = 5")
    assert case.driver.refresh() == "incremental"
    case.view.check()
    assert case.view.request.view == TableName(case.lab.schema, "m")
