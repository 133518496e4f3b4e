"""Two drivers refresh the same views while a third party writes to their sources."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from pyspark.sql import SparkSession

from sparkivm.refresh.result import RefreshResult
from tests.chaos.kinds import EXTREMA, ROWS, SUMS, open_world
from tests.spark.lab import Lab, View

SQL = (SUMS, EXTREMA, ROWS)


class Writer:
    """Commits to the sources until stopped."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self._lab, self._random = lab.another(), random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.commits = 0

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._stop.is_set():
            number = self._random.randrange(1000)
            self._lab.run(
                self._random.choice(
                    (
                        f"insert into t values ({number}, {number % 5}, {number})",
                        f"update t set x = x + 1, k = {number % 4} where id % 5 = {number % 5}",
                        f"delete from t where id % 9 = {number % 9}",
                        f"insert into u values ({number % 6}, {number})",
                        f"delete from u where y % 4 = {number % 4}",
                    )
                )
            )
            self.commits += 1


def two_drivers(spark: SparkSession, rounds: int, seed: int) -> list[str]:
    """Returns: one line per failure."""
    lab = Lab(spark, "chaos_two_drivers")
    open_world(lab)
    views = [lab.view(f"m{number}", sql).build() for number, sql in enumerate(SQL)]
    twin = lab.another()
    wrong: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        for number in range(rounds):
            view = views[number % len(views)]
            with Writer(lab, seed + number):
                both = [pool.submit(replace(view, lab=each).refresh) for each in (lab, twin)]
                for run in both:
                    error = run.exception()
                    if error is not None:
                        wrong.append(f"round {number}: {error}")
            wrong += _differences(view, number)
    lab.run(f"drop schema {lab.schema} cascade")
    return wrong


def _differences(view: View, number: int) -> list[str]:
    last: RefreshResult = view.refresh()
    found = view.differences() or view.state_differences()
    return [f"round {number}, {view.name}, {last.mode}: {found}"] if found else []
