"""Two drivers refresh the same views while a third party writes to their sources, or also to their states."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkivm.refresh.result import RefreshResult
from tests.chaos.kinds import EXTREMA, ROWS, SUMS, open_sources
from tests.spark.lab import Lab, View
from tests.spark.state_sizes import SIZES, take_states_for

SQL = (SUMS, EXTREMA, ROWS)


class Writer:
    """Does something first, then commits to the sources until stopped."""

    def __init__(self, lab: Lab, seed: int, first: Callable[[Lab], None]) -> None:
        self._lab, self._random, self._first = lab.another(), random.Random(seed), first
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
        self._first(self._lab)
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
    """With Delta tables. Returns: one line per failure."""
    return _raced(Lab(spark, "chaos_two_drivers", "delta", "delta"), rounds, seed, lambda lab, view: None)


def two_drivers_in(spark: SparkSession, catalog: str, rounds: int, seed: int) -> list[str]:
    """With all tables in an Iceberg catalog. In most rounds somebody else also writes to the state."""
    draw = random.Random(seed)

    def meddle(lab: Lab, view: View) -> None:
        """The statement may be refused, as the drivers are at work."""
        state, what = view.request.state.sql, draw.choice(_MEDDLING)
        with suppress(PySparkException, Py4JJavaError):
            former = lab.rows(
                f"select snapshot_id from {state}.history where is_current_ancestor "
                "order by made_current_at desc limit 2"
            )[-1]["snapshot_id"]
            lab.run(what.format(catalog=catalog, state=state, former=former))

    lab = Lab(spark, "chaos_two_drivers", "iceberg", "iceberg", catalog)
    return _raced(lab, rounds, seed, meddle)


_MEDDLING = (
    "call {catalog}.system.rollback_to_snapshot(table => '{state}', snapshot_id => {former})",
    "delete from {state} where k = 1 or k is null",
    "delete from {state}",
    "alter table {state} set tblproperties ('owner' = 'me')",
    "call {catalog}.system.rewrite_data_files(table => '{state}', options => map('rewrite-all', 'true'))",
    "insert into {state} select * from {state} limit 1",
    "select 1",
    "select 2",
)


def _raced(lab: Lab, rounds: int, seed: int, meddle: Callable[[Lab, View], None]) -> list[str]:
    """meddle: what somebody else does to a view's state at the beginning of a round"""
    open_sources(lab)
    views = [lab.view(f"m{number}", sql).build() for number, sql in enumerate(SQL)]
    twin = lab.another()
    wrong: list[str] = []
    with ThreadPoolExecutor(2) as pool, pytest.MonkeyPatch.context() as patch:
        for number in range(rounds):
            view = views[number % len(views)]
            take_states_for(SIZES[number % 2 * 2], patch)  # small or huge
            with Writer(lab, seed + number, partial(meddle, view=view)):
                both = [pool.submit(replace(view, lab=each).refresh) for each in (lab, twin)]
                for run in both:
                    error = run.exception()
                    if error is not None:
                        wrong.append(f"round {number}: {error}")
            wrong += _differences(view, number)
    lab.drop()
    return wrong


def _differences(view: View, number: int) -> list[str]:
    last: RefreshResult = view.refresh()
    found = view.differences() or view.state_differences()
    return [f"round {number}, {view.name}, {last.mode}: {found}"] if found else []
