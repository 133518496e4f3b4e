"""The compiler's access to Spark, over the adapter's current connection."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkivm.spark_errors import SparkLost, condition, sentence
from dbt.adapters.sparkivm.sql_catalog import DESCRIBE_QUERY, SqlCatalog
from dbt.adapters.sparkivm.sql_settings import WHOLE_PLANS
from dbt.adapters.sql.connections import SQLConnectionManager
from dbt.adapters.sql.impl import SQLAdapter
from dbt_common.exceptions import DbtRuntimeError

from sparkivm.engine import (
    Commit,
    Engine,
    EngineError,
    EngineLost,
    Field,
    RelationFacts,
    Row,
    as_written,
    session_with,
)
from sparkivm.names import TableName, quoted

if TYPE_CHECKING:
    from dbt.adapters.sparkivm.session_catalog import SessionCatalog  # needs pyspark

MACROS = "dbt_sparkivm"  # a project overrides our macros by dispatch, not by name
_ALL_SETTINGS = "set"


class AdapterEngine(Engine):
    """Runs statements by dbt's connection manager, so that the debug log shows them."""

    def __init__(self, adapter: SQLAdapter, connections: SQLConnectionManager) -> None:
        self._adapter = adapter
        self._connections = connections
        self._connection = self._connections.get_thread_connection().handle
        with self._answers("metadata"):
            self._metadata = self._metadata_of_connection()

    def query(self, sql: str) -> Sequence[Row]:
        with as_written(self, sql):
            return self._query(sql)

    def _query(self, sql: str) -> Sequence[Row]:
        # `set` allows no text after it, not even a project's query comment.
        text = sql if sql == _ALL_SETTINGS else self._connections._add_query_comment(sql)
        with spark_errors(lines_before=text.partition(sql)[0].count("\n")):
            _, cursor = self._connections.add_query(text, auto_begin=False)
            with self._connections.exception_handler(sql):
                rows = cursor.fetchall() or []
                names = [column[0] for column in cursor.description or []] if rows else []
            return [dict(zip(names, row, strict=True)) for row in rows]

    def execute(self, sql: str) -> None:
        self.query(sql)

    def render(self, macro: str, **arguments: Any) -> str:
        return str(self._adapter.execute_macro(macro, project=MACROS, kwargs=arguments)).strip()

    def describe(self, name: TableName) -> RelationFacts | None:
        with self._answers(f"describe {name}"):
            return self._metadata.describe(name)

    def invalidate(self, name: TableName) -> None:
        with self._answers(f"refresh {name}"):
            self._metadata.invalidate(name)

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        with self._answers(f"commits of {name} after {after}"):
            return self._metadata.commits(name, after)

    def names_like(self, prefix: TableName) -> Sequence[TableName]:
        with self._answers(f"tables like {prefix}"):
            return self._metadata.names_like(prefix)

    def properties_at(self, location: str) -> Mapping[str, str] | None:
        with self._answers(f"describe detail of {location}"):
            return self._metadata.properties_at(location)

    def expect_commit(self, table: TableName) -> None:
        with self._answers(f"expect a commit to {table}"):
            self._metadata.expect_commit(table)

    def substituted(self, sql: str) -> str:
        with self._answers(sql):
            return self._metadata.substituted(sql) if "${" in sql else sql

    def check_query(self, sql: str) -> None:
        with self._analysis_of(sql):
            self._metadata.check_query(sql)

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        with self._analysis_of(sql):
            return self._metadata.schema_of(sql)

    def analyzed_plan(self, sql: str) -> str:
        with session_with(self, WHOLE_PLANS), self._analysis_of(sql):
            return self._metadata.analyzed_plan(sql)

    def optimized_plan(self, sql: str) -> str:
        with session_with(self, WHOLE_PLANS), self._analysis_of(sql):
            return self._metadata.optimized_plan(sql)

    @contextmanager
    def _analysis_of(self, sql: str) -> Generator[None, None, None]:
        with as_written(self, sql), self._answers(sql, DESCRIBE_QUERY.count("\n")):
            yield

    def namespace(self) -> tuple[str, ...]:
        with self._answers("current catalog and schema"):
            return self._metadata.namespace()

    def variables(self, names: Collection[str]) -> frozenset[str]:
        with self._answers("variables of the session"):
            return self._metadata.variables(names)

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        with self._answers("functions of the session"):
            return self._metadata.foreign_functions(names)

    def set(self, settings: Mapping[str, str]) -> None:
        with self._answers(f"set {', '.join(settings)}"):
            for key, value in settings.items():
                self._set(key, value)

    def unset(self, settings: Sequence[str]) -> None:
        with self._answers(f"reset {', '.join(settings)}"):
            for key in settings:
                self._reset(key)

    def settings(self, names: Sequence[str]) -> Mapping[str, str]:
        with self._answers(f"settings {', '.join(names)}"):
            values = self._get(names)
        return {name: value for name in names if (value := values.get(name)) is not None}

    @contextmanager
    def _answers(self, asked: str, lines_before: int = 0) -> Generator[None, None, None]:
        """For requests to Spark: errors of the driver become engine errors."""
        with spark_errors(lines_before), self._connections.exception_handler(asked):
            yield

    # By SQL; SessionEngine has faster ways.

    def _metadata_of_connection(self) -> SqlCatalog | SessionCatalog:
        return SqlCatalog(self.query, self._query)

    def _set(self, key: str, value: str) -> None:
        self.query(f"set {quoted(key)}={quoted(value)}")

    def _reset(self, key: str) -> None:
        if key in self._connection.opened_with:
            self._set(key, self._connection.opened_with[key])
        else:
            self.query(f"reset {quoted(key)}")

    def _get(self, keys: Sequence[str]) -> Mapping[str, str | None]:
        """One statement for all settings that were set, and one, only once, for each default."""
        values = {row["key"]: row["value"] for row in self.query(_ALL_SETTINGS)}
        return {key: values[key] if key in values else self._connection.default(key) for key in keys}


@contextmanager
def spark_errors(lines_before: int = 0) -> Generator[None, None, None]:
    """dbt's errors become EngineError or EngineLost.

    lines_before  as in EngineError
    """
    try:
        yield
    except SparkLost as error:
        raise EngineLost(error.msg) from error
    except DbtRuntimeError as error:
        message = sentence(error)
        raise EngineError(message, condition(message), lines_before) from error
