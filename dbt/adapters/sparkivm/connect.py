"""Connections of method `connect`: a session of a Spark Connect server.

tested  tests/adapter/test_connect_connection.py, tests/dbt/test_connect.py
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any
from urllib.parse import quote

from dbt.adapters.sparkivm.session import SessionConnection, SessionCursor
from dbt.adapters.sparkivm.spark_errors import SparkLost
from dbt.adapters.sparkivm.sql_settings import default_by_sql, defaults_of, set_at_opening
from pyspark.sql import DataFrame
from pyspark.sql.connect.client.retries import DefaultPolicy
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.types import StructType, TimestampType

warnings.filterwarnings("ignore", r"\[RETRIES_EXCEEDED\]")  # we report the error itself


class ConnectConnection(SessionConnection):
    """A session of its own on the server, which ends with the connection."""

    def __init__(self, url: str, settings: Mapping[str, str]) -> None:
        remote: Any = SparkSession.builder.remote(url).create()
        super().__init__(remote, {})
        self._defaults = defaults_of(url)
        # About ten seconds; by default the client waits ten minutes for a server that has stopped.
        remote.client.set_retry_policies([DefaultPolicy(max_retries=5, max_backoff=5000)])
        self.opened_with = set_at_opening(self, settings)

    def cursor(self) -> ConnectCursor:
        return ConnectCursor(self)

    def prepare(self) -> None:
        if self.canceled:
            raise SparkLost("canceled")

    def default(self, key: str) -> str | None:
        """The server's default for a setting; None if it has none."""
        return default_by_sql(self, key, self._defaults)

    def close(self) -> None:
        """End the session, which drops its temporary views; a server that is gone has ended it."""
        super().close()
        remote: Any = self.session
        remote.client.set_retry_policies([])
        remote.stop()


class ConnectCursor(SessionCursor):
    """One statement. DDL and DML run when executed, a SELECT when its rows are fetched."""

    def _collected(self, frame: DataFrame | None) -> list[Any]:
        """The rows, with timestamps in UTC: the client returns them in this process's time zone."""
        rows = super()._collected(frame)
        if frame is None or not rows:
            return rows
        moments = _timestamps(frame.schema)
        return [_in_utc(row, moments) for row in rows] if moments else rows


def _timestamps(schema: StructType) -> frozenset[int]:
    return frozenset(i for i, f in enumerate(schema.fields) if isinstance(f.dataType, TimestampType))


def _in_utc(row: Sequence[Any], moments: frozenset[int]) -> tuple[Any, ...]:
    return tuple(
        value.astimezone(timezone.utc) if i in moments and isinstance(value, datetime) else value
        for i, value in enumerate(row)
    )


def connect_url(host: str, port: int, *, user: str | None, token: str | None, use_ssl: bool) -> str:
    """The connection string of Spark Connect's clients."""
    parts = {"user_id": user, "token": token, "use_ssl": "true" if use_ssl else None, "user_agent": "dbt"}
    given = "".join(f";{key}={quote(value, safe='')}" for key, value in parts.items() if value)
    return f"sc://{host}:{port}/{given}"
