"""Projects on a Spark with Delta in this process, by dbt-spark's method `session`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dbt.adapters.spark.session import SessionConnectionWrapper
from dbt.adapters.sparkivm.session import start
from dbt.adapters.sparkivm.session_defaults import session_settings
from pyspark.sql import SparkSession

from sparkivm.changes.frontier import read_frontier
from sparkivm.engine import Field
from sparkivm.frontend.moment_calls import replace_moments
from sparkivm.names import TableName, state_table
from tests.packages.outcome import Engine
from tests.spark_settings import SETTINGS


class SparkWarehouse:
    """The running Spark. Its time cannot stand still: a query is compared at the moment of the view's refresh."""

    engine: Engine = "Spark"

    def __init__(self) -> None:
        self._session = SparkSession.builder.getOrCreate()

    @contextmanager
    def dbt(self) -> Iterator[None]:
        """dbt-spark's method `session` puts the texts of seeds between quotes, but does not escape quotes in them."""
        fix = SessionConnectionWrapper._fix_binding

        def fixed(value: Any) -> Any:
            return fix(value.replace("\\", "\\\\").replace("'", "\\'") if isinstance(value, str) else value)

        with patch.object(SessionConnectionWrapper, "_fix_binding", staticmethod(fixed)):
            yield

    def execute(self, sql: str) -> None:
        self._session.sql(sql)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self._session.sql(sql).collect()]

    def fields(self, table: TableName) -> Sequence[Field]:
        schema = self._session.table(table.sql).schema
        return tuple(Field(field.name, field.dataType.simpleString()) for field in schema)

    def at_refresh(self, view: TableName, sql: str) -> str:
        """The query with the dates and times of the last commit that says them."""
        commits = self._session.sql(f"describe history {state_table(view).sql}").collect()  # newest first
        frontiers = (read_frontier(commit["userMetadata"]) for commit in commits)
        newest = next(filter(None, frontiers))
        return replace_moments(sql, newest.moments)

    def next_day(self) -> None:
        """It comes by itself."""

    def cannot_run(self, message: str) -> bool:
        return False


@contextmanager
def started_spark() -> Iterator[SparkWarehouse]:
    """Start Spark in an empty directory; stop it at the end."""
    with tempfile.TemporaryDirectory() as directory:
        start(session_settings(SETTINGS, Path(directory)), Path(directory))
        warehouse = SparkWarehouse()
        try:
            yield warehouse
        finally:
            SparkSession.builder.getOrCreate().stop()
