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
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.table_references import TableReference, replace_references, table_references
from sparkivm.marker import owner_of
from sparkivm.names import TableName, state_table
from sparkivm.reasons import Reason
from sparkivm.refresh.refresh_view import refresh_view
from sparkivm.refresh.request import RefreshRequest, StateLayout
from sparkivm.refresh.result import Mode, RefreshResult
from sparkivm.refresh.sources.pins import Pins
from tests.plain_engine import PlainEngine
from tests.spark.hidden_rows import hidden_rows
from tests.spark_settings import LAKE, SOURCES, STATES, Format

T = TypeVar("T")

_THREADS = 2
_ANSI = "spark.sql.ansi.enabled"
FEED = "tblproperties (delta.enableChangeDataFeed = true)"


class Lab:
    """A schema of its own. Statements given to `run` need not qualify its names. ANSI as in `spark`.

    sources, states  their formats. Iceberg tables are in the schema of the same name in the catalog `lake`.
                     If sources are, statements given to `run` mean tables there, while views stay where they are.
    """

    def __init__(
        self,
        spark: SparkSession,
        schema: str,
        sources: Format = SOURCES,
        states: Format = STATES,
        lake: str = LAKE,
    ) -> None:
        self.schema, self.engine = schema, PlainEngine(spark)
        self.sources, self.states, self._lake = sources, states, lake
        self.session = self._new_session(spark)
        spark.catalog.clearCache()  # drop cached rows of an earlier test: this lab recreates the tables
        self.run(f"drop schema if exists {schema} cascade", f"create schema {schema}")
        if "iceberg" in (sources, states):
            self.run(f"create schema if not exists {lake}.{schema}")
            self._empty_lake()
        self._use_schema()

    def _use_schema(self) -> None:
        catalog = self._lake if self.sources == "iceberg" else "spark_catalog"
        self.session.sql(f"use {catalog}.{self.schema}")
        self.engine.session.sql(f"use {self.schema}")

    def _empty_lake(self) -> None:
        self.run(*(f"drop table {self._lake}.{self.schema}.{name} purge" for name in self.in_lake()))

    def in_lake(self) -> list[str]:
        """The Iceberg tables, as their catalog spells them."""
        return [row["tableName"] for row in self.rows(f"show tables in {self._lake}.{self.schema}")]

    def drop(self) -> None:
        """Drop everything, also in the lake."""
        if "iceberg" in (self.sources, self.states):
            self._empty_lake()
        self.run(f"drop schema spark_catalog.{self.schema} cascade")

    @property
    def using(self) -> str:
        """The clauses that create a source: a table that records its changes."""
        return "using iceberg" if self.sources == "iceberg" else f"using delta {FEED}"

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
        """Create a table that records its changes.

        clauses  of a Delta table
        """
        using = f"using delta {clauses}" if self.sources == "delta" else self.using
        self.run(f"create table {name} ({columns}) {using}")
        if rows:
            self.run(f"insert into {name} values {', '.join(rows)}")

    def view(self, name: str, sql: str, **options: Any) -> View:
        """A view that is refreshed from changes at any cost, unless `refresh_mode` says otherwise."""
        full_name = TableName(self.schema, name)
        layout = StateLayout("iceberg", self._lake) if self.states == "iceberg" else StateLayout()
        request = RefreshRequest(
            full_name,
            self._as_model(sql),
            owner_of("lab", f"model.lab.{name}", full_name),
            **{"refresh_mode": "incremental", "layout": layout, **options},
        )
        return View(self, request)

    def _as_model(self, sql: str) -> str:
        """The query with full names of tables and views, if they are in two catalogs."""
        if self.sources != "iceberg":
            return sql
        tables = {name.lower() for name in self.in_lake()}

        def full(reference: TableReference) -> str | None:
            if len(reference.parts) > 1:
                return None
            (name,) = reference.parts
            return f"{self._lake if name.lower() in tables else 'spark_catalog'}.{self.schema}.{name}"

        found = table_references(parse_model("model", sql))
        assert found is not None, sql
        return replace_references(sql, found, full)

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
        twin.sources, twin.states, twin._lake = self.sources, self.states, self._lake
        if ansi is not None:
            twin.session.conf.set(_ANSI, str(ansi).lower())
        twin.engine = PlainEngine(twin.session)
        twin._use_schema()
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
    def public(self) -> str:
        """The view's name, in any session."""
        return f"spark_catalog.{self.request.view.sql}"

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
        both = f"select 1, * from {self.public} union all select -1, * from (\n{self._query}\n)"
        return surplus(self.lab.rows(both), digits)

    def state_differences(self, digits: int | None = None) -> list[tuple[Any, ...]]:
        """The same for the hidden columns, compared with a newly built state."""
        found = self.lab.engine.session.sql(hidden_rows(self.lab.engine, self.request))
        return surplus(found.collect(), digits)

    def check_columns(self) -> None:
        """Check names and types against `materialized='table'`, where every column is nullable."""
        session = self.lab.session
        found = [(f.name, f.dataType.simpleString(), f.nullable) for f in session.table(self.public).schema]
        wanted = [(f.name, f.dataType.simpleString(), True) for f in session.sql(self._query).schema]
        assert found == wanted, f"{self.name} has {found}, a table {wanted}"

    def content(self) -> list[tuple[Any, ...]]:
        """The view's rows in a fixed order."""
        return sorted((tuple(row) for row in self.lab.rows(f"select * from {self.public}")), key=repr)

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
