"""The engine for a Spark in dbt's own process: settings and metadata without statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from dbt.adapters.sparkivm.engine import AdapterEngine, spark_errors
from dbt.adapters.sparkivm.session_catalog import SessionCatalog
from dbt.adapters.sparkivm.sql_catalog import SqlCatalog

from sparkivm.engine import EngineError, RelationFacts
from sparkivm.names import TableName

_helpers = ThreadPoolExecutor(max_workers=4, thread_name_prefix="sparkivm-describe")


class SessionEngine(AdapterEngine):
    """Statements as in AdapterEngine; everything else by py4j, in about a millisecond."""

    def describe_all(self, names: Sequence[TableName]) -> Sequence[RelationFacts | None]:
        """In parallel: the time is spent waiting for the catalog's database and listings of logs."""
        if len(names) < 2:
            return super().describe_all(names)
        found = _helpers.map(self._describe_beside, names)
        return [
            self.describe(name) if isinstance(facts, EngineError) else facts
            for name, facts in zip(names, found, strict=True)
        ]

    def check_files(self, table: RelationFacts) -> None:
        with spark_errors(), self._connections.exception_handler(f"files of {table.name}"):
            there = self._catalog.has_all_files(table)
        if not there:
            super().check_files(table)

    def _describe_beside(self, name: TableName) -> RelationFacts | EngineError | None:
        """In another thread, without a connection for SQL. An error may be due to that, so it is returned."""
        self._connection.prepare()
        try:
            return self.describe(name)
        except EngineError as error:
            return error

    def _metadata_of_connection(self) -> SessionCatalog:
        self._connection.prepare()
        by_sql = SqlCatalog(self.query, self._query, local_times=True)
        self._catalog = SessionCatalog(self._connection.session, by_sql)
        return self._catalog

    def _set(self, key: str, value: str) -> None:
        self._connection.session.conf.set(key, value)

    def _reset(self, key: str) -> None:
        self._connection.reset(key)

    def _get(self, keys: Sequence[str]) -> Mapping[str, str | None]:
        return self._catalog.settings(keys)
