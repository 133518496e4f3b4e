"""Opens, names and cancels dbt's connections."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any

from dbt.adapters.contracts.connection import AdapterRequiredConfig, Connection, ConnectionState
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod
from dbt.adapters.sparkivm.spark_errors import sentence
from dbt.adapters.sparkivm.thrift import ThriftConnection
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from sparkivm.engine import EngineError

logger = AdapterLogger("SparkIvm")

# Plans are read back as text (nullability, the comparison of two plans), so nothing may be cut out.
_THRIFT_SETTINGS = {"spark.sql.debug.maxToStringFields": "100000"}


class SparkIvmConnectionManager(SparkConnectionManager):
    """dbt-spark's manager, where each connection has a Spark session that nobody else uses."""

    TYPE = "sparkivm"

    def __init__(self, profile: AdapterRequiredConfig, mp_context: SpawnContext) -> None:
        super().__init__(profile, mp_context)
        credentials: Any = profile.credentials
        root = Path(getattr(profile, "project_root", "."))
        credentials.spark_directory = str((root / (credentials.spark_directory or ".spark")).absolute())

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials: Any = connection.credentials
        if credentials.method == SparkConnectionMethod.SESSION:
            # pyspark is installed only with the extra `session`.
            from dbt.adapters.sparkivm.session import open_session

            connection.handle = open_session(
                credentials.server_side_parameters, Path(credentials.spark_directory)
            )
            connection.state = ConnectionState.OPEN
            return connection

        super().open(connection)
        handle = ThriftConnection(
            connection.handle.handle,
            credentials.poll_interval,
            credentials.query_timeout,
            credentials.query_retries,
        )
        handle.open_with({**_THRIFT_SETTINGS, **credentials.server_side_parameters})
        connection.handle = handle
        return connection

    def add_query(self, sql: str, *args: Any, **kwargs: Any) -> tuple[Connection, Any]:
        """Run a statement; its Spark jobs carry the name of the model."""
        connection = self.get_thread_connection()
        name = (connection.name or "").rpartition(".")[2]
        connection.handle.label = f"dbt: {name}"
        return super().add_query(sql, *args, **kwargs)

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:
        """Every error of Spark becomes a database error with Spark's own sentence; dbt's own errors pass.

        The breadth is dbt's contract for this method: whatever the driver raises has to leave as a dbt error.
        """
        try:
            yield
        except DbtDatabaseError as error:
            raise DbtDatabaseError(sentence(error)) from error
        except (DbtRuntimeError, EngineError):
            raise
        except Exception as error:
            logger.debug(f"Error while running:\n{sql}\n{error}")
            raise DbtDatabaseError(sentence(error)) from error
