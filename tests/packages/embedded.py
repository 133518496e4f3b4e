"""dbt with a profile of type spark, on tables with a history in DuckDB instead of a Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from unittest import mock

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.contracts.relation import RelationType
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionWrapper
from dbt.adapters.spark.impl import SparkAdapter
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin
from dbt_common.exceptions import DbtRuntimeError
from sqlglot import exp

from sparkivm.engine import EngineError, Field
from sparkivm.names import TableName
from tests.fake_engine.engine import FakeEngine
from tests.fake_engine.lake import Lake, View
from tests.fake_engine.session import Session
from tests.fake_engine.statements import execute
from tests.packages.outcome import Engine

_COMMENTS = re.compile(r"(\s*(--[^\n]*\n|/\*.*?\*/))*\s*", re.DOTALL)
_REFUSED = (
    "Spark refuses the model's SQL"  # the embedded engine does; what a refresh runs it must be able to run
)
_FIRST_DAY = datetime(2027, 1, 15, 15, 9, 26)  # after all data
_IGNORED = re.compile(r"\s*(create schema|comment on|alter table \S+ (change|alter) column)\b", re.IGNORECASE)


class EmbeddedWarehouse:
    """A lake of its own. Its time stands still, so that a view and its SELECT see the same."""

    engine: Engine = "embedded"

    def __init__(self) -> None:
        self._lake = _StillLake()
        self._session = Session(self._lake, "packages")

    def dbt(self) -> AbstractContextManager[None]:
        return _embedded_spark(self._lake)

    def execute(self, sql: str) -> None:
        execute(self._session, sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self._session.rows(sql)]

    def fields(self, table: TableName) -> Sequence[Field]:
        return self._session.fields(f"select * from {table.sql}")

    def at_refresh(self, view: TableName, sql: str) -> str:
        return sql

    def next_day(self) -> None:
        self._lake.days += 1

    def cannot_run(self, message: str) -> bool:
        return _REFUSED in message


class _StillLake(Lake):
    days = 0

    @property
    def now(self) -> str:
        return f"{_FIRST_DAY + timedelta(days=self.days)}"


@contextmanager
def _embedded_spark(lake: Lake) -> Iterator[None]:
    """dbt commands in this process reach the lake through dbt-spark's adapter."""
    here = _Answers(lake)
    with ExitStack() as replaced:
        for owner, name, by in (
            (SparkConnectionManager, "open", classmethod(here.open)),
            (SparkAdapter, "list_schemas", lambda adapter, database: []),
            (SparkAdapter, "check_schema_exists", lambda adapter, database, schema: True),
            (SparkAdapter, "list_relations_without_caching", lambda adapter, schema: here.relations(adapter, schema)),
            (SparkAdapter, "get_columns_in_relation", lambda adapter, relation: here.columns(adapter, relation)),
            (IncrementalViewMixin, "ivm_engine", lambda adapter: FakeEngine(lake, adapter.config.credentials.schema)),
        ):  # fmt: skip
            replaced.enter_context(mock.patch.object(owner, name, by))
        yield


class _Answers:
    """What dbt-spark asks Spark for by statements of its own."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def open(self, manager: type, connection: Connection) -> Connection:
        if connection.state != ConnectionState.OPEN:
            connection.handle = _Handle(Session(self._lake, connection.credentials.schema))
            connection.state = ConnectionState.OPEN
        return connection

    def relations(self, adapter: SparkAdapter, schema: Any) -> list[Any]:
        names = self._lake.names_like(TableName(schema.schema, ""))
        return [
            adapter.Relation.create(
                schema=name.schema,
                identifier=name.identifier,
                type=RelationType.View if isinstance(self._lake.find(name), View) else RelationType.Table,
                is_delta=not isinstance(self._lake.find(name), View),
            )
            for name in names
        ]

    def columns(self, adapter: SparkAdapter, relation: Any) -> list[SparkColumn]:
        name = TableName(str(relation.schema), str(relation.identifier))
        facts = FakeEngine(self._lake, name.schema).describe(name)
        return [
            SparkColumn(
                table_database=None,
                table_schema=name.schema,
                table_name=name.identifier,
                table_type=str(relation.type),
                table_owner="",
                table_stats=None,
                column=field.name,
                column_index=index,
                dtype=field.type,
            )
            for index, field in enumerate(facts.fields if facts else ())
        ]


class _Handle(SparkConnectionWrapper):
    """A connection of dbt: runs Spark SQL in a session of the lake."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rows: list[tuple[Any, ...]] = []
        self._names: list[str] = []

    def cursor(self) -> _Handle:
        return self

    def execute(self, sql: str, bindings: Sequence[Any] | None = None) -> None:
        sql = _COMMENTS.sub("", sql, count=1).strip()
        if bindings:
            sql = sql % tuple(map(_literal, bindings))
        self._rows, self._names = [], []
        if _IGNORED.match(sql):
            return
        try:
            found = execute(self._session, sql)
            if sql.lower().startswith(("select", "with")):
                self._names = [field.name for field in self._session.fields(sql)]
        except EngineError as error:
            raise DbtRuntimeError(str(error)) from error
        self._rows = [tuple(row.values()) for row in found]

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    @property
    def description(self) -> list[tuple[Any, ...]]:
        return [(name, "", None, None, None, None, True) for name in self._names]

    def cancel(self) -> None: ...

    def close(self) -> None: ...

    def rollback(self) -> None: ...


def _literal(value: Any) -> str:
    """A value of a seed, as SQL."""
    if value is None:
        return "null"
    if isinstance(value, (bool, int, float, Decimal)):
        return str(value)
    return exp.Literal.string(str(value)).sql("spark")
