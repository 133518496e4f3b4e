"""The random tables in an embedded engine: every version of them, and what changed between two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb

from sparkivm.engine import Field
from sparkivm.frontend.catalog import CatalogTable
from sparkivm.plan.group_changes import STATE
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


class Sources:
    """SourceTexts of the refresh that leads to a version."""

    def __init__(self, version: int) -> None:
        self._version = version

    def new(self, table: str) -> str:
        return "state" if table == STATE else f"{table}_{self._version}"

    def old(self, table: str) -> str:
        return f"{table}_{self._version - 1}"

    def changes(self, table: str, fields: Sequence[str]) -> str:
        return f'select {", ".join([*fields, "w"])} as "__ivm_w" from {table}_changes_{self._version}'


class Database:
    """One in-memory database. Its tables are named by version, so that loading a world serves many queries."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("set threads = 1")
        # The rows are few; planning is what takes the time.
        self.connection.execute("pragma disable_optimizer")
        self.connection.execute("create macro raise_error(message) as error(message)")
        for table in TABLES:
            for version in range(MOST_BATCHES + 1):
                self.connection.execute(f"create table {table}_{version} ({_COLUMNS})")
                self.connection.execute(f"create table {table}_changes_{version} ({_COLUMNS}, w bigint)")

    def load(self, world: World) -> None:
        """Replace what the tables hold."""
        statements: list[str] = []
        for version, content in enumerate(world.versions()):
            for table, rows in content.items():
                statements += _filled(f"{table}_{version}", rows)
        for version, changes in enumerate(world.batches, 1):
            for table in TABLES:
                statements += _filled(f"{table}_changes_{version}", _weighed(changes.get(table, Change())))
        self.connection.execute(";".join(["begin", *statements, "commit"]))

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


def _weighed(change: Change) -> list[Row]:
    return [*((*row, -1) for row in change.deleted), *((*row, 1) for row in change.inserted)]


def _filled(table: str, rows: Sequence[Row]) -> Iterator[str]:
    yield f"delete from {table}"
    if rows:
        values = ", ".join("(" + ", ".join(map(_literal, row)) + ")" for row in rows)
        yield f"insert into {table} values {values}"


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _spark_type(type_: str) -> str:
    return _TO_SPARK.get(type_, type_.lower().replace(" ", ""))
