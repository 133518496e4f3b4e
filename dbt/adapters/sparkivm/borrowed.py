"""Incremental views over the connections of dbt-spark or dbt-databricks, whose profiles stay as they are.

Other models run unchanged. With the method `session`, dbt-spark has one Spark session for all threads, so the
settings of two refreshes would collide: each gets a copy, with everything that hooks set or created. A
session on a server belongs to one thread, and ends with the model.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from multiprocessing import get_context
from typing import Any

from dbt.adapters.base.meta import available
from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.spark.connections import (
    PyhiveConnectionWrapper,
    PyodbcConnectionWrapper,
    SparkConnectionMethod,
    SparkConnectionWrapper,
)
from dbt.adapters.sparkivm.connections import (
    IncrementalViewConnections,
    lost_as_one_sentence,
)
from dbt.adapters.sparkivm.operations import OperationsMixin
from dbt.adapters.sparkivm.seeds import SeedMixin
from dbt.adapters.sparkivm.spark_errors import SparkLost
from dbt.adapters.sparkivm.sql_settings import WHOLE_PLANS, default_by_sql, set_accepted
from dbt.adapters.sparkivm.thrift import ThriftConnection
from dbt.adapters.sql.connections import SQLConnectionManager

_making = threading.Lock()


class BorrowingMixin(OperationsMixin, SeedMixin):
    """For an adapter with connections of its own."""

    _borrowed: BorrowedConnections | None = None

    @property
    def ivm_connections(self) -> IncrementalViewConnections:
        with _making:
            if self._borrowed is None:
                self._borrowed = BorrowedConnections(self.connections)
            return self._borrowed

    @available.parse_none
    def prepare_incremental_view_session(self, model: Mapping[str, Any]) -> None:
        """Refresh in a copy of the session as the hooks left it; the validation may have made one before."""
        if self._borrowed is not None:
            self._borrowed.give_back()
        super().prepare_incremental_view_session(model)

    def cancel_open_connections(self) -> Any:
        if self._borrowed is not None:
            self._borrowed.cancel_open()
        return super().cancel_open_connections()  # type: ignore[no-untyped-call]

    def cleanup_connections(self) -> None:
        super().cleanup_connections()
        self._borrowed = None


class BorrowedConnections(IncrementalViewConnections):
    """One for each open connection of dbt, created when an incremental view first needs it."""

    TYPE = "spark"

    def __init__(self, lender: SQLConnectionManager) -> None:
        super().__init__(lender.profile, get_context("spawn"))
        self._lender = lender
        self._lent: dict[Hashable, Any] = {}  # by thread: the handle of dbt's connection

    def get_thread_connection(self) -> Connection:
        lent = self._lender.get_thread_connection()
        key = self.get_thread_identifier()
        with lost_as_one_sentence(lent.credentials, opening=True):
            handle = lent.handle  # this connects
        own = self.get_if_exists()
        if own is None or self._lent[key] is not handle:
            with lost_as_one_sentence(lent.credentials):
                own = Connection(
                    type=lent.type,
                    name=None,
                    credentials=lent.credentials,
                    state=ConnectionState.OPEN,
                    handle=self._borrow(handle, lent.credentials),
                )
            with self.lock:
                self.thread_connections[key] = own
            self._lent[key] = handle
        own.name = lent.name
        return own

    def give_back(self) -> None:
        """Borrow this thread's connection again when it is next needed."""
        if not self._is_canceled():
            self.clear_thread_connection()

    def _add_query_comment(self, sql: str) -> str:
        return self._lender._add_query_comment(sql)

    def _borrow(self, handle: Any, credentials: Any) -> Any:
        if getattr(credentials, "method", None) == SparkConnectionMethod.SESSION:
            from dbt.adapters.sparkivm.session import copied_session

            handle.cursor()
            handle.execute(
                "select 1"
            )  # starts Spark; sets what the profile says, which a hook may have changed
            return copied_session()
        if isinstance(handle, PyhiveConnectionWrapper) and not isinstance(handle, PyodbcConnectionWrapper):
            own = ThriftConnection(handle.handle, credentials, query_retries=0)
            own.open_with({})
            return own
        return OtherConnection(self._lender)


class OtherConnection(SparkConnectionWrapper):
    """A connection of an unknown driver: dbt's connection manager runs each statement."""

    def __init__(self, lender: SQLConnectionManager) -> None:
        self._lender = lender
        self._cursor: Any = None
        self._defaults: dict[str, str | None] = {}
        self.label = "dbt"
        self.canceled = False
        self.opened_with = set_accepted(self, WHOLE_PLANS)  # in the session of dbt, which prints more then

    def cursor(self) -> OtherConnection:
        return self

    def execute(self, sql: str, bindings: list[Any] | None = None) -> None:
        if self.canceled:
            raise SparkLost("canceled")
        _, self._cursor = self._lender.add_query(sql, auto_begin=False, bindings=bindings)

    def fetchall(self) -> list[Any]:
        return list(self._cursor.fetchall() or ())

    @property
    def description(self) -> Any:
        return self._cursor.description

    def default(self, key: str) -> str | None:
        """The default of a setting; None if Spark has none."""
        return default_by_sql(self, key, self._defaults)

    def cancel(self) -> None:
        """dbt's own connection ends the running statement; we refuse the thread's next one."""
        self.canceled = True

    def close(self) -> None:
        """dbt closes its connection."""

    def rollback(self, *args: Any, **kwargs: Any) -> None:
        """Spark has no transactions."""
