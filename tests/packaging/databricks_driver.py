"""A stand-in for Databricks' driver in tests: its connections lead to a Spark thrift server.

Importing it disables the real driver's `connect`. A server without Unity Catalog has no
`information_schema`: its tables are made from SHOW TABLES, or are empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import databricks.sql
from pyhive import hive

_TABLES = "`system`.`information_schema`.`tables`"


class Connection:
    """The part of a connection that dbt-databricks uses."""

    def __init__(self) -> None:
        self.server = hive.connect("127.0.0.1", port=int(os.environ["THRIFT_PORT"]), username="dbt")

    def cursor(self) -> Cursor:
        return Cursor(self)

    def close(self) -> None:
        self.server.close()

    def get_session_id_hex(self) -> str:
        return "session"


class Cursor:
    """The part of a cursor that dbt-databricks uses."""

    query_id = "query"

    def __init__(self, connection: Connection) -> None:
        self.connection, self._cursor = connection, connection.server.cursor()

    def execute(self, sql: str, parameters: object = None) -> Cursor:
        if _TABLES in sql:
            sql = sql.replace(_TABLES, self._tables())
        elif "information_schema" in sql:
            sql = "select 1 as nothing where false"
        self._cursor.execute(sql)
        return self

    @property
    def description(self) -> Any:
        return self._cursor.description

    def fetchall(self) -> Any:
        return _rows(self._cursor.fetchall)

    def fetchone(self) -> Any:
        return _rows(self._cursor.fetchone) or None

    def fetchmany(self, size: int) -> Any:
        return _rows(lambda: self._cursor.fetchmany(size))

    def cancel(self) -> None:
        self._cursor.cancel()

    def close(self) -> None:
        self._cursor.close()

    def _tables(self) -> str:
        names = {}
        for kind in ("TABLE", "VIEW"):
            self._cursor.execute(f"show {kind}s in lake")
            names |= {row[1]: kind for row in self._cursor.fetchall()}
        rows = [
            f"('spark_catalog', 'lake', '{name}', '{'VIEW' if kind == 'VIEW' else 'MANAGED'}', 'DELTA', 'me')"
            for name, kind in names.items()
        ]
        columns = "table_catalog, table_schema, table_name, table_type, data_source_format, table_owner"
        return f"(values {', '.join(rows)}) as tables({columns})"


def _rows(fetched: Callable[[], Any]) -> Any:
    try:
        return fetched()
    except hive.ProgrammingError:  # the statement returned no rows
        return []


databricks.sql.connect = lambda **_: Connection()
