"""The engine without dbt, on a Spark session of its own."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dbt.adapters.sparkivm.session import SessionConnection
from dbt.adapters.sparkivm.session_catalog import SessionCatalog
from dbt.adapters.sparkivm.spark_errors import condition, sentence
from dbt.adapters.sparkivm.sql_catalog import DESCRIBE_QUERY, SqlCatalog
from dbt.adapters.sparkivm.sql_settings import WHOLE_PLANS
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sparkivm.engine import (
    Commit,
    Engine,
    EngineError,
    Field,
    RelationFacts,
    Row,
    as_written,
    session_with,
)
from sparkivm.names import TableName
from tests.bare_macros import BareMacros

_ANSI = "spark.sql.ansi.enabled"


class PlainEngine(Engine):
    """Like the adapter's, with its metadata code, or `by_sql` as over thrift; ANSI as in the given session.

    `ran`: the executed statements.
    """

    def __init__(self, spark: SparkSession, *, by_sql: bool = False) -> None:
        self.connection = SessionConnection(spark.newSession(), {_ANSI: spark.conf.get(_ANSI) or ""})
        self.connection.prepare()
        self.session = self.connection.session
        self.ran: list[str] = []
        self._macros = BareMacros()
        self.describes_by_calls = not by_sql
        sql = SqlCatalog(self.query, self._query, local_times=True)
        self._metadata: SqlCatalog | SessionCatalog = sql if by_sql else SessionCatalog(self.session, sql)

    def query(self, sql: str) -> Sequence[Row]:
        with as_written(self, sql):
            return self._query(sql)

    def _query(self, sql: str) -> Sequence[Row]:
        with _spark_errors():
            self.connection.prepare()
            rows = self.session.sql(sql).collect()
            return [dict(zip(row.__fields__, row, strict=True)) for row in rows]

    def execute(self, sql: str) -> Sequence[Row]:
        self.ran.append(sql)
        return self.query(sql)

    def render(self, macro: str, **arguments: Any) -> str:
        return self._macros.render(macro, **arguments)

    def describe(self, name: TableName) -> RelationFacts | None:
        with _spark_errors():
            return self._metadata.describe(name)

    def invalidate(self, name: TableName) -> None:
        with _spark_errors():
            self._metadata.invalidate(name)

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        with _spark_errors():
            return self._metadata.commits(name, after)

    def names_like(self, prefix: TableName) -> Sequence[TableName]:
        with _spark_errors():
            return self._metadata.names_like(prefix)

    def properties_at(self, location: str) -> Mapping[str, str] | None:
        with _spark_errors():
            return self._metadata.properties_at(location)

    def check_files(self, table: RelationFacts) -> None:
        with _spark_errors():
            there = isinstance(self._metadata, SessionCatalog) and self._metadata.has_all_files(table)
        if not there:
            super().check_files(table)

    def expect_commit(self, table: TableName) -> None:
        self._metadata.expect_commit(table)

    def substituted(self, sql: str) -> str:
        self.connection.prepare()
        with _spark_errors():
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
        self.connection.prepare()
        with as_written(self, sql), _spark_errors(DESCRIBE_QUERY.count("\n")):
            yield

    def namespace(self) -> tuple[str, ...]:
        with _spark_errors():
            return self._metadata.namespace()

    def variables(self, names: Collection[str]) -> frozenset[str]:
        with _spark_errors():
            return self._metadata.variables(names)

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        with _spark_errors():
            return self._metadata.foreign_functions(names)

    def set(self, settings: Mapping[str, str]) -> None:
        for key, value in settings.items():
            self.session.conf.set(key, value)

    def unset(self, settings: Sequence[str]) -> None:
        for key in settings:
            self.connection.reset(key)

    def settings(self, names: Sequence[str]) -> Mapping[str, str]:
        conf = self.session._jsparkSession.conf()
        found = {name: conf.getOption(name) for name in names}
        return {name: str(value.get()) for name, value in found.items() if value.isDefined()}


@contextmanager
def _spark_errors(lines_before: int = 0) -> Generator[None, None, None]:
    try:
        yield
    except (PySparkException, Py4JError) as error:
        message = sentence(error)
        raise EngineError(message, condition(message), lines_before) from error
