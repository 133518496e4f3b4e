"""Opens, labels and cancels dbt's connections."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any

from dbt.adapters.contracts.connection import (
    AdapterRequiredConfig,
    AdapterResponse,
    Connection,
    ConnectionState,
)
from dbt.adapters.exceptions.connection import FailedToConnectError
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod
from dbt.adapters.sparkivm.credentials import CONNECT
from dbt.adapters.sparkivm.log import logger
from dbt.adapters.sparkivm.spark_errors import SparkLost, is_lost, sentence
from dbt.adapters.sparkivm.thrift import ThriftConnection
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from sparkivm.engine import EngineError, EngineLost

_SAID = (SparkLost, EngineLost)  # errors whose text already says that Spark is gone


class IncrementalViewConnections(SparkConnectionManager):
    """Runs statements over handles with a `label` that can be `canceled` and know `opened_with`."""

    def add_query(self, sql: str, *args: Any, **kwargs: Any) -> tuple[Connection, Any]:
        """Run a statement; its Spark jobs are labelled with the model's name."""
        connection = self.get_thread_connection()
        name = (connection.name or "").rpartition(".")[2]
        connection.handle.label = f"dbt: {name}"
        return super().add_query(sql, *args, **kwargs)

    def execute(self, sql: str, *args: Any, **kwargs: Any) -> tuple[AdapterResponse, Any]:
        """Like dbt's, but a SELECT that fails while its rows are fetched fails like any statement."""
        with self.exception_handler(sql):
            return super().execute(sql, *args, **kwargs)

    @contextmanager
    def exception_handler(self, sql: str) -> Generator[None, None, None]:
        """Every Spark error becomes a database error with Spark's own sentence; dbt's own errors pass.

        It catches everything, because dbt expects any error of the driver as a dbt error.
        """
        try:
            with lost_as_one_sentence(self.profile.credentials):
                yield
        except (*_SAID, EngineError):
            raise
        except Exception as error:
            if self._is_canceled():
                raise SparkLost("canceled") from error
            if isinstance(error, DbtRuntimeError) and not isinstance(error, DbtDatabaseError):
                raise
            logger.debug(f"Error while running:\n{sql}\n{error}")
            raise DbtDatabaseError(sentence(error)) from error

    def _is_canceled(self) -> bool:
        connection = self.get_if_exists()
        return (
            connection is not None and connection.state == ConnectionState.OPEN and connection.handle.canceled
        )


class SparkIvmConnectionManager(IncrementalViewConnections):
    """The connections of a profile of type `sparkivm`: each has its own Spark session."""

    TYPE = "sparkivm"

    def __init__(self, profile: AdapterRequiredConfig, mp_context: SpawnContext) -> None:
        super().__init__(profile, mp_context)
        credentials: Any = profile.credentials
        root = Path(getattr(profile, "project_root", "."))
        credentials.spark_directory = str(credentials.directory_in(root))

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        if connection.state == ConnectionState.OPEN:
            return connection
        credentials: Any = connection.credentials
        settings = credentials.server_side_parameters
        handle: Any
        is_here = credentials.method == SparkConnectionMethod.SESSION
        with lost_as_one_sentence(credentials, opening=not is_here):
            if is_here:  # pyspark is installed only with the extra `session`
                from dbt.adapters.sparkivm.session import open_session

                handle = open_session(settings, Path(credentials.spark_directory), credentials.state_format)
            elif credentials.method == CONNECT:  # its packages are installed only with the extra `connect`
                from dbt.adapters.sparkivm.connect import ConnectConnection, connect_url

                url = connect_url(
                    credentials.host,
                    credentials.port,
                    user=credentials.user,
                    token=credentials.token,
                    use_ssl=credentials.use_ssl,
                )
                handle = ConnectConnection(url, settings)
            else:
                super().open(connection)
                handle = ThriftConnection(connection.handle.handle, credentials, credentials.query_retries)
                handle.open_with(settings)
        connection.handle, connection.state = handle, ConnectionState.OPEN
        return connection


@contextmanager
def lost_as_one_sentence(credentials: Any, *, opening: bool = False) -> Generator[None, None, None]:
    """If Spark is gone, any error of the driver becomes SparkLost; the debug log has the stack trace.

    opening  whether this is the first request to a server
    """
    try:
        yield
    except _SAID:
        raise
    except Exception as error:
        if not is_lost(error) or (isinstance(error, FailedToConnectError) and not opening):
            raise
        logger.debug(traceback.format_exc())
        raise SparkLost(_what_is_lost(credentials, error, opening)) from error


def _what_is_lost(credentials: Any, error: Exception, opening: bool) -> str:
    again = "run dbt again: until then each view shows the result of its last complete refresh"
    method = getattr(credentials, "method", None)
    if method == SparkConnectionMethod.SESSION:
        directory = getattr(credentials, "spark_directory", None)
        log = f"see the end of {directory}/spark.log" if directory else "see its messages above"
        return (
            f"Spark has stopped; {log}\n"
            f"  do     {again}. If memory ran out, raise spark.driver.memory in server_side_parameters"
        )
    words = sentence(error).split("\n")[0]
    kind = "Spark Connect" if method == CONNECT else "thrift"
    server = f"the {kind} server at {credentials.host}"
    if port := getattr(credentials, "port", None):  # a profile of type databricks has none
        server += f":{port}"
    if opening:
        return (
            f"cannot connect to {server}: {words.removeprefix('failed to connect: ')}\n"
            "  do     start it, or fix host, port and auth in profiles.yml"
        )
    return (
        f"{server} has stopped, or the connection is broken: {words}\n"
        f"  do     read the server's log, start the server, and {again}"
    )
