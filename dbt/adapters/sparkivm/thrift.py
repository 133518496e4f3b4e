"""Connections of method `thrift`: a session of a Spark thrift server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dbt.adapters.spark.connections import PyhiveConnectionWrapper
from dbt.adapters.sparkivm.log import logger
from dbt.adapters.sparkivm.spark_errors import SparkLost, is_lost
from dbt.adapters.sparkivm.sql_settings import default_by_sql, defaults_of, set_at_opening
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

_FIRST_PAUSE_S = 0.01
_GROWTH = 1.3


class ThriftConnection(PyhiveConnectionWrapper):
    """dbt-spark's connection, which checks whether a statement has ended, at first often, then less often."""

    def __init__(self, handle: Any, credentials: Any, query_retries: int) -> None:
        self._longest_pause_s = max(_FIRST_PAUSE_S, credentials.poll_interval)  # a profile may say 0
        self._pause_s = _FIRST_PAUSE_S
        self.opened_with: Mapping[str, str] = {}
        self.label = "dbt"
        self.canceled = False
        self._defaults = defaults_of(f"{credentials.host}:{credentials.port}")
        super().__init__(handle, query_timeout=credentials.query_timeout, query_retries=query_retries)

    @property  # type: ignore[override]  # an attribute in dbt-spark
    def poll_interval(self) -> float:  # read by dbt-spark before each pause
        if self.canceled:
            _unless_lost(super().cancel)
        pause_s = self._pause_s
        self._pause_s = min(self._longest_pause_s, pause_s * _GROWTH)
        return pause_s

    @poll_interval.setter
    def poll_interval(self, value: float) -> None:
        """Ignores the value that dbt-spark's constructor sets."""

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        if self.canceled:
            raise SparkLost("canceled")
        self._pause_s = _FIRST_PAUSE_S
        try:
            super().execute(sql, bindings)
        except DbtDatabaseError:
            raise
        except DbtRuntimeError as error:
            if is_lost(error):
                raise
            # dbt-spark's timeout leaves the statement running, and a rebuild would run beside it.
            _unless_lost(super().cancel)
            raise SparkLost(
                f"a statement was canceled after {self.query_timeout} seconds, the profile's query_timeout\n"
                "  do     raise query_timeout in profiles.yml, and run dbt again: until then each view shows "
                "the result of its last complete refresh"
            ) from error

    def cancel(self) -> None:
        """End the running statement; the thread's next statement is refused.

        The statement's own thread ends it before its next pause, since two threads cannot share a transport.
        """
        self.canceled = True

    def close(self) -> None:
        _unless_lost(super().close)

    def fetchmany(self, size: int) -> list[Any]:
        return self.fetchall()[:size]

    def default(self, key: str) -> str | None:
        """The server's default for a setting; None if it has none."""
        return default_by_sql(self, key, self._defaults)

    def open_with(self, settings: Mapping[str, str]) -> None:
        """Set these by SQL: the server ignores settings in the request for a session."""
        self.opened_with = set_at_opening(self, settings)


def _unless_lost(ended: Callable[[], None]) -> None:
    """End something on the server; if the server is gone, it has ended."""
    try:
        ended()
    except Exception as error:
        if not is_lost(error):
            raise
        logger.debug(f"nothing to end: {error}")
