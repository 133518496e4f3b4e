"""The random tables in an embedded engine: all versions, and the changes between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """Tables are named by version, so that a world is loaded once for many queries."""

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
        self._loaded: World | None = None
        empty = World({}, tuple({} for _ in range(MOST_BATCHES)))
        for name, columns, _ in tables_of(empty):
            self.connection.execute(f"create table {name} ({columns}{self._more_columns})")

    @property
    def _more_columns(self) -> str:
        if self.catalog is CATALOG:
            return ""
        return "".join(
            f', "{name}" generated always as ({of}) virtual' for name, of in NAMED_LIKE_OURS.items()
        )

    def load(self, world: World) -> None:
        """Replace the tables' contents."""
        if world == self._loaded:
            return
        self._loaded = None
        statements: list[str] = []
        for name, _, rows in tables_of(world):
            statements += [f"delete from {name}", insert_statement(name, rows)]
        self.connection.execute(";".join(["begin", *filter(None, statements), "commit"]))
        self._loaded = world


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
