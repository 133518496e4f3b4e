"""A laboratory for views: sources with real commits, refreshes without dbt, recomputation as the reference."""

from __future__ import annotations

import queue
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pyspark.sql import Row, SparkSession

from sparkivm.engine import EngineError
from sparkivm.marker import owner_of
from sparkivm.names import TableName, state_table
from sparkivm.reasons import Reason
from sparkivm.refresh.refresh_view import refresh_view
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import Mode, RefreshResult
from sparkivm.refresh.sources.pins import Pins
from tests.plain_engine import PlainEngine
from tests.spark.hidden_rows import hidden_rows

T = TypeVar("T")

_THREADS = 2
_ANSI = "spark.sql.ansi.enabled"
FEED = "tblproperties (delta.enableChangeDataFeed = true)"


class Lab:
    """A schema of its own. Statements given to `run` need not qualify its names. ANSI as in `spark`."""

    def __init__(self, spark: SparkSession, schema: str) -> None:
        self.schema, self.engine = schema, PlainEngine(spark)
        self.session = self._new_session(spark)
        spark.catalog.clearCache()  # drop cached rows of an earlier test: this lab recreates the tables
        self.run(f"drop schema if exists {schema} cascade", f"create schema {schema}", f"use {schema}")
        self.engine.session.sql(f"use {schema}")

    @staticmethod
    def _new_session(like: SparkSession) -> SparkSession:
        session = like.newSession()
        session.conf.set(_ANSI, like.conf.get(_ANSI) or "")
        return session

    def run(self, *statements: str) -> None:
        """Write to sources as somebody else does, in a session of its own."""
        for statement in statements:
            self.session.sql(statement)

    def table(self, name: str, columns: str, *rows: str, clauses: str = FEED) -> None:
        """Create a Delta table that records its changes."""
        self.run(f"create table {name} ({columns}) using delta {clauses}")
        if rows:
            self.run(f"insert into {name} values {', '.join(rows)}")

    def view(self, name: str, sql: str, **options: Any) -> View:
        """A view that is refreshed from changes at any cost, unless `refresh_mode` says otherwise."""
        full_name = TableName(self.schema, name)
        request = RefreshRequest(
            full_name,
            sql,
            owner_of("lab", f"model.lab.{name}", full_name),
            **{"refresh_mode": "incremental", **options},
        )
        return View(self, request)

    def rows(self, sql: str) -> list[Row]:
        return self.session.sql(sql).collect()

    def value(self, sql: str) -> Any:
        return self.rows(sql)[0][0]

    def version(self, table: str) -> int:
        return int(self.value(f"describe history {table} limit 1"))

    def another(self, *, ansi: bool | None = None) -> Lab:
        """The same schema with a second driver: another session and engine; ANSI on, off, or as here."""
        twin = object.__new__(Lab)
        twin.schema, twin.session = self.schema, self._new_session(self.session)
        if ansi is not None:
            twin.session.conf.set(_ANSI, str(ansi).lower())
        twin.engine = PlainEngine(twin.session)
        twin.run(f"use {self.schema}")
        twin.engine.session.sql(f"use {self.schema}")
        return twin


def side_by_side(lab: Lab, views: Sequence[View], work: Callable[[View], T]) -> list[T]:
    """Do `work` for each view in two threads with an engine each, as dbt does; most of the time is planning."""
    labs: queue.SimpleQueue[Lab] = queue.SimpleQueue()
    for _ in range(_THREADS):
        labs.put(lab.another())

    def on_some_lab(view: View) -> T:
        mine = labs.get()
        try:
            return work(replace(view, lab=mine))
        finally:
            labs.put(mine)

    with ThreadPoolExecutor(_THREADS) as pool:
        return list(pool.map(on_some_lab, views))


@dataclass(frozen=True)
class View:
    """One model in a laboratory."""

    lab: Lab
    request: RefreshRequest

    @property
    def name(self) -> str:
        return self.request.view.identifier

    @property
    def state(self) -> str:
        return state_table(self.request.view).identifier

    @property
    def _query(self) -> str:
        return self.request.sql.rstrip(" ;")

    def with_(self, **options: Any) -> View:
        """The same view with other request options."""
        return View(self.lab, replace(self.request, **options))

    def refresh(self, pins: Pins | None = None, **options: Any) -> RefreshResult:
        """Refresh without checking the rows; `options` replace those of the request."""
        run = pins or Pins()
        try:
            return refresh_view(self.lab.engine, replace(self.request, **options), run)
        finally:
            if pins is None:
                run.memory.drop(self.lab.engine)

    def must_be(self, mode: Mode, reason: Reason | None = None, **options: Any) -> RefreshResult:
        """Refresh; check the mode, the reason, and that the view equals its query now."""
        result = self.refresh(**options)
        assert (result.mode, result.fallback.reason if result.fallback else None) == (mode, reason), result
        self.check()
        return result

    def build(self) -> View:
        """Refresh for the first time; check that the columns are those of a table made from the same SELECT."""
        self.must_be("create")
        self.check_columns()
        return self

    def check(self) -> None:
        found = self.differences()
        assert not found, f"{self.name} differs from its query: {found}"

    def differences(self, digits: int | None = None) -> list[tuple[Any, ...]]:
        """Rows that only the view or only the recomputed query has, each with its signed surplus.

        digits  to compare of floating-point numbers; None compares all
        """
        both = f"select 1, * from {self.name} union all select -1, * from (\n{self._query}\n)"
        return surplus(self.lab.rows(both), digits)

    def state_differences(self, digits: int | None = None) -> list[tuple[Any, ...]]:
        """The same for the hidden columns, compared with a newly built state."""
        return surplus(self.lab.rows(hidden_rows(self.lab.engine, self.request)), digits)

    def check_columns(self) -> None:
        """Check names and types against `materialized='table'`, where every column is nullable."""
        session = self.lab.session
        found = [(f.name, f.dataType.simpleString(), f.nullable) for f in session.table(self.name).schema]
        wanted = [(f.name, f.dataType.simpleString(), True) for f in session.sql(self._query).schema]
        assert found == wanted, f"{self.name} has {found}, a table {wanted}"

    def content(self) -> list[tuple[Any, ...]]:
        """The view's rows in a fixed order."""
        return sorted((tuple(row) for row in self.lab.rows(f"select * from {self.name}")), key=repr)

    def history(self) -> list[Row]:
        """The state's commits, oldest first."""
        return self.lab.rows(f"describe history {self.state}")[::-1]


def surplus(rows: list[Row], digits: int | None = None) -> list[tuple[Any, ...]]:
    """Net signed rows: EXCEPT ALL in both directions at once. Rows are compared as text, so that NaN equals NaN."""
    net: Counter[str] = Counter()
    for sign, *values in rows:
        net[repr(tuple(_in_digits(value, digits) for value in values))] += sign
    return [(count, row) for row, count in net.items() if count]


def _in_digits(value: Any, digits: int | None) -> Any:
    if not isinstance(value, float) or digits is None:
        return value
    return "0" if 0 < abs(value) < 10**-digits else f"{value:.{digits}g}"  # a sum of 0 with a rounding error


def refused(view: View, **options: Any) -> str:
    """The text of the error with which a refresh ends."""
    from sparkivm.errors import ModelError

    try:
        result = view.refresh(**options)
    except (ModelError, EngineError) as error:
        return str(error)
    raise AssertionError(f"the refresh went through: {result}")
