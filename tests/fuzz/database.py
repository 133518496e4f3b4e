"""The random tables in an embedded engine: every version of them, and what changed between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from sparkivm.algebra.spark_text import SparkText
from sparkivm.engine import Field
from sparkivm.frontend.catalog import CatalogTable
from sparkivm.plan.state import STAGED, STATE
from sparkivm.plan.steps import STEP
from tests.fuzz.random_data import COLUMNS, MOST_BATCHES, TABLES, Change, Row, World

_TO_DUCKDB = {"string": "varchar"}
_TO_SPARK = {
    "INTEGER": "int",
    "BIGINT": "bigint",
    "VARCHAR": "string",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "HUGEINT": "decimal(38,0)",
    '"NULL"': "void",
}
_COLUMNS = ", ".join(f"{name} {_TO_DUCKDB.get(type_, type_)}" for name, type_ in COLUMNS)


class Catalog:
    """The tables of `random_data`."""

    def lookup(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> CatalogTable:
        assert parts[-1] in TABLES, parts
        return CatalogTable(parts[-1], tuple(Field(name, type_) for name, type_ in COLUMNS))


# The day of each version: time may stand still.
_DAYS = (1, 2, 2, 0)


def today(version: int) -> exp.Expr:
    """The date of the refresh that leads to a version."""
    return sqlglot.parse_one(f"date '2024-01-{_DAYS[version % len(_DAYS)] + 1:02}'", dialect=SparkText)


class Sources:
    """SourceTexts of the refresh that leads to a version."""

    def __init__(self, version: int) -> None:
        self._version = version

    def new(self, table: str) -> str:
        if table == STAGED or table.startswith(STEP):
            return table
        return "state" if table == STATE else f"{table}_{self._version}"

    def old(self, table: str) -> str:
        return f"{table}_{self._version - 1}"

    def moment(self, key: str, before: bool) -> exp.Expr:
        return today(self._version - before)

    def changes(self, table: str, fields: Sequence[str]) -> str:
        return f'select {", ".join([*fields, "w"])} as "__ivm_w" from {table}_changes_{self._version}'


def new_connection() -> duckdb.DuckDBPyConnection:
    """An empty database in memory that knows what the generated text asks for."""
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.execute("set enable_progress_bar = false")
    connection.execute("set temp_directory = ''")  # a product of many tables fails rather than fills a disk
    # The rows are few; planning is what takes the time.
    connection.execute("pragma disable_optimizer")
    connection.execute("create macro raise_error(message) as error(message)")
    connection.execute("create macro count_if(c) as count(case when c then 1 end)")  # DuckDB's can be NULL
    return connection


def tables_of(world: World) -> Iterator[tuple[str, str, Sequence[Row]]]:
    """(name, columns, rows) of each table, in each version."""
    for version, content in enumerate(world.versions()):
        for table, rows in content.items():
            yield f"{table}_{version}", _COLUMNS, rows
    for version, changes in enumerate(world.batches, 1):
        for table in TABLES:
            change = changes.get(table, Change())
            weighed = [*((*row, -1) for row in change.deleted), *((*row, 1) for row in change.inserted)]
            yield f"{table}_changes_{version}", f"{_COLUMNS}, w bigint", weighed


def insert_statement(table: str, rows: Sequence[Sequence[Any]]) -> str:
    """Empty for no rows."""
    values = ", ".join("(" + ", ".join(map(_literal, row)) + ")" for row in rows)
    return values and f"insert into {table} values {values}"


class Database:
    """Tables named by version, so that loading a world serves many queries."""

    def __init__(self) -> None:
        self.connection = new_connection()
        # Filters are pushed down still, or some queries made products of five tables.
        found = self.connection.execute(
            "select name from duckdb_optimizers() where name <> 'filter_pushdown'"
        )
        others = ",".join(name for (name,) in found.fetchall())
        self.connection.execute("pragma enable_optimizer")
        self.connection.execute(f"set disabled_optimizers = '{others}'")
        self._loaded: World | None = None
        empty = World({}, tuple({} for _ in range(MOST_BATCHES)))
        for name, columns, _ in tables_of(empty):
            self.connection.execute(f"create table {name} ({columns})")

    def load(self, world: World) -> None:
        """Replace what the tables hold."""
        if world == self._loaded:
            return
        self._loaded = None
        statements: list[str] = []
        for name, _, rows in tables_of(world):
            statements += [f"delete from {name}", insert_statement(name, rows)]
        self.connection.execute(";".join(["begin", *filter(None, statements), "commit"]))
        self._loaded = world

    def execute(self, sql: str) -> None:
        self.connection.execute(sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        found = self.connection.execute(sql).fetchall()
        return [tuple(round(v, 9) if isinstance(v, float) else v for v in row) for row in found]

    def bag(self, sql: str) -> Counter[Any]:
        return Counter(self.rows(sql))

    def fields(self, sql: str) -> tuple[Field, ...]:
        """Names and types of a query's columns, as Spark names types."""
        self.connection.execute(f"select * from ({sql}) as described limit 0")
        described = self.connection.description or []
        return tuple(Field(name, _spark_type(str(type_))) for name, type_, *_ in described)


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _spark_type(type_: str) -> str:
    return _TO_SPARK.get(type_, type_.lower().replace(" ", ""))
