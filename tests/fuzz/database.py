"""The random tables in an embedded engine: all versions, and the changes between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from sparkivm.engine import Field
from tests.fuzz.embedded import Catalog, Embedded, new_connection
from tests.fuzz.random_data import COLUMNS, MOST_BATCHES, NAMED_LIKE_OURS, TABLES, Change, Row, World

CATALOG = Catalog(dict.fromkeys(TABLES, tuple(Field(name, type_) for name, type_ in COLUMNS)))
_TYPES = dict(COLUMNS)
WITH_NAMES_LIKE_OURS = Catalog(
    {
        table: (*fields, *(Field(name, _TYPES[of]) for name, of in NAMED_LIKE_OURS.items()))
        for table, fields in CATALOG.tables.items()
    }
)
_MOST_WORLDS = 32
_EMPTY = World({}, tuple({} for _ in range(MOST_BATCHES)))
_TO_DUCKDB = {"string": "varchar"}
_COLUMNS = ", ".join(f"{name} {_TO_DUCKDB.get(type_, type_)}" for name, type_ in COLUMNS)


def tables_of(world: World) -> Iterator[tuple[str, str, Sequence[Row]]]:
    """(name, columns, rows) of each table in each version."""
    for version, content in enumerate(world.versions()):
        for table, rows in content.items():
            yield f"{table}_{version}", _COLUMNS, rows
    for version, changes in enumerate(world.batches, 1):
        for table in TABLES:
            change = changes.get(table, Change())
            weighed = [*((*row, -1) for row in change.deleted), *((*row, 1) for row in change.inserted)]
            yield f"{table}_changes_{version}", f"{_COLUMNS}, w bigint", weighed


def insert_statement(table: str, rows: Sequence[Sequence[Any]]) -> str:
    """Empty if there are no rows."""
    values = ", ".join("(" + ", ".join(map(_literal, row)) + ")" for row in rows)
    return values and f"insert into {table} values {values}"


class Database(Embedded):
    """Tables are named by version, so that a world is loaded once for many queries.

    Each world has a schema. The last worlds stay there, because many queries are tried in the same ones.
    """

    def __init__(self, catalog: Catalog = CATALOG) -> None:
        super().__init__(new_connection(), catalog)
        self.connection.execute("set memory_limit = '2GB'")  # a product of many tables would exceed it
        # Filters are still pushed down; otherwise some queries would build products of five tables.
        found = self.connection.execute(
            "select name from duckdb_optimizers() where name <> 'filter_pushdown'"
        )
        others = ",".join(name for (name,) in found.fetchall())
        self.connection.execute("pragma enable_optimizer")
        self.connection.execute(f"set disabled_optimizers = '{others}'")
        self._numbers = count()
        self._held: dict[str, World] = {}  # by schema; the last one that was used is at the end
        self.load(_EMPTY)

    @property
    def _more_columns(self) -> str:
        if self.catalog is CATALOG:
            return ""
        return "".join(
            f', "{name}" generated always as ({of}) virtual' for name, of in NAMED_LIKE_OURS.items()
        )

    def load(self, world: World) -> None:
        """Let the tables' names stand for this world's."""
        schema = next((schema for schema, held in self._held.items() if held == world), "")
        if schema:
            del self._held[schema]
        else:
            schema = self._filled(world)
        self._held[schema] = world
        self.connection.execute(f"set search_path = 'main,{schema}'")  # what views create is in main

    def _filled(self, world: World) -> str:
        """A schema with the world's rows; at first a new one, then that of the world not used for longest."""
        if len(self._held) < _MOST_WORLDS:
            schema = f"world_{next(self._numbers)}"
            self.connection.execute(f"create schema {schema}")
            for name, columns, _ in tables_of(_EMPTY):
                self.connection.execute(f"create table {schema}.{name} ({columns}{self._more_columns})")
        else:
            schema = next(iter(self._held))
            del self._held[schema]
        statements: list[str] = []
        for name, _, rows in tables_of(world):
            statements += [f"delete from {schema}.{name}", insert_statement(f"{schema}.{name}", rows)]
        self.connection.execute(";".join(["begin", *filter(None, statements), "commit"]))
        return schema


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
