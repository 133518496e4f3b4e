"""An embedded engine that holds all versions of its tables at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType, SimpleNamespace
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from sparkivm.algebra.spark_text import SparkText
from sparkivm.engine import Field
from sparkivm.names import in_changes
from sparkivm.plan.key_ranges import TablePart
from sparkivm.plan.state import STAGED, STATE
from sparkivm.plan.steps import STEP
from tests.duckdb_dialect import DUCKDB

_TO_SPARK = {
    "INTEGER": "int",
    "BIGINT": "bigint",
    "VARCHAR": "string",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "HUGEINT": "decimal(38,0)",
    '"NULL"': "void",
}


@dataclass(frozen=True)
class Catalog:
    """Tables by name, with Spark's types of their columns."""

    tables: Mapping[str, tuple[Field, ...]]

    def lookup(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> SimpleNamespace:
        return SimpleNamespace(kind="delta", key=parts[-1], fields=self.tables[parts[-1]])


# Each version's day; the day may stay the same.
_DAYS = (1, 2, 2, 0)


def today(version: int) -> exp.Expr:
    """The date of the refresh that leads to a version."""
    return _date(_DAYS[version % len(_DAYS)] + 1).copy()


@cache
def _date(day: int) -> exp.Expr:
    return sqlglot.parse_one(f"date '2024-01-{day:02}'", dialect=SparkText)


class Sources:
    """SourceTexts of the refresh that leads to a version; of some tables it reads only parts."""

    def __init__(self, version: int, parts: Mapping[str, TablePart] = MappingProxyType({})) -> None:
        self._version, self._parts = version, parts

    def new(self, table: str) -> str:
        if table == STAGED or table.startswith(STEP):
            return table
        if table in self._parts:
            condition = self._parts[table].condition.sql("duckdb")
            return f"(select * from {table}_{self._version} where {condition})"
        return "state" if table == STATE else f"{table}_{self._version}"

    def old(self, table: str) -> str:
        return f"{table}_{self._version - 1}"

    def moment(self, key: str, before: bool) -> exp.Expr:
        return today(self._version - before)

    def changes(self, table: str, fields: Sequence[str]) -> str:
        columns = [f"{DUCKDB.name(field)} as {DUCKDB.name(in_changes(field))}" for field in fields]
        return f'select {", ".join([*columns, "w"])} as "__ivm_w" from {table}_changes_{self._version}'


def new_connection() -> duckdb.DuckDBPyConnection:
    """An empty in-memory database with the functions that generated SQL uses."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.execute("set enable_progress_bar = false")
    connection.execute("set temp_directory = ''")  # a product of many tables must fail, not fill the disk
    # There are few rows; planning takes most of the time.
    connection.execute("pragma disable_optimizer")
    connection.execute("create macro raise_error(message) as error(message)")
    connection.execute("create macro count_if(c) as count(case when c then 1 end)")  # DuckDB's may be NULL
    return connection


class Embedded:
    """The engine, with the tables' names without versions."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
        self.connection, self.catalog = connection, catalog

    def execute(self, sql: str) -> None:
        self.connection.execute(sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        found = self.connection.execute(sql).fetchall()
        return [tuple(map(_comparable, row)) for row in found]

    def bag(self, sql: str) -> Counter[Any]:
        return Counter(self.rows(sql))

    def alike(self, have: tuple[Any, ...], want: tuple[Any, ...]) -> bool:
        """Whether two rows count as equal."""
        return have == want

    def difference(self, have: Iterable[tuple[Any, ...]], want: Iterable[tuple[Any, ...]]) -> str | None:
        """How two bags differ; None if they are equal."""
        more, less = Counter(have), Counter(want)
        missing = list((less - more).elements())
        surplus = []
        for row in (more - less).elements():
            twin = next((other for other in missing if self.alike(row, other)), None)
            surplus.append(row) if twin is None else missing.remove(twin)
        return f"too many {surplus}, missing {missing}" if surplus or missing else None

    def fields(self, sql: str) -> tuple[Field, ...]:
        """Names and types of a query's columns, with Spark's type names."""
        self.connection.execute(f"select * from ({sql}) as described limit 0")
        described = self.connection.description or []
        return tuple(Field(name, spark_type(str(type_))) for name, type_, *_ in described)


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):  # a struct
        return tuple((name, _comparable(field)) for name, field in value.items())
    return _rounded(value) if isinstance(value, float) else value


def _rounded(value: float) -> float | str:
    """Sums in another order differ in the last digits. NaN counts as equal to NaN."""
    return float(f"{round(value, 9):.8g}") if value == value else "NaN"


def spark_type(type_: str) -> str:
    return _TO_SPARK.get(type_, type_.lower().replace(" ", ""))
