"""Incremental views over another adapter's connections, without a Spark."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.contracts.connection import Connection, ConnectionState, LazyHandle
from dbt.adapters.sparkivm.borrowed import BorrowedConnections, BorrowingMixin
from dbt.adapters.sparkivm.spark_errors import SparkLost
from dbt.adapters.sparkivm.sql_settings import WHOLE_PLANS
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

OPENING = [f"set `{key}`=`{value}`" for key, value in WHOLE_PLANS.items()]


class Cursor:
    description = (("a", None),)

    def fetchall(self) -> list[tuple[int]]:
        return [(1,)]


class Lender:
    """dbt's connection manager with a driver that we do not know."""

    def __init__(self) -> None:
        self.profile = SimpleNamespace(credentials=SimpleNamespace(method="odbc", type="spark"))
        self.ran: list[str] = []
        self.refuses = ("fail",)
        self.connection = self.opened()

    def opened(self, handle: object = None) -> Connection:
        credentials: Any = self.profile.credentials
        return Connection(
            "spark", "model.shop.m", credentials, ConnectionState.OPEN, handle=handle or object()
        )

    def get_thread_connection(self) -> Connection:
        return self.connection

    def _add_query_comment(self, sql: str) -> str:
        return f"/* shop */ {sql}"

    def add_query(self, sql: str, auto_begin: bool = True, bindings: Any = None) -> tuple[Connection, Cursor]:
        if sql in self.refuses:
            raise DbtRuntimeError("[TABLE_OR_VIEW_NOT_FOUND] no t\n\tat org.apache.spark")
        self.ran.append(sql)
        return self.connection, Cursor()


@pytest.fixture
def lender() -> Lender:
    return Lender()


@pytest.fixture
def borrowed(lender: Lender) -> BorrowedConnections:
    return BorrowedConnections(lender)  # type: ignore[arg-type]


def test_statements_are_those_of_dbts_connection(lender, borrowed):
    _, cursor = borrowed.add_query("select 1", auto_begin=False)
    assert lender.ran == [*OPENING, "select 1"]
    assert (cursor.fetchall(), cursor.description) == ([(1,)], Cursor.description)
    assert borrowed._add_query_comment("x") == "/* shop */ x"


def test_each_connection_of_dbts_is_borrowed_once(lender, borrowed):
    """dbt closes its connection after each model and opens another one."""
    first = borrowed.get_thread_connection()
    assert borrowed.get_thread_connection() is first
    lender.connection = lender.opened()
    second = borrowed.get_thread_connection()
    assert second is not first
    assert borrowed.get_thread_connection() is second
    assert second.name == "model.shop.m"


def test_nothing_runs_after_a_cancel(lender, borrowed):
    borrowed.cancel(borrowed.get_thread_connection())
    with pytest.raises(SparkLost, match="canceled"):
        borrowed.add_query("select 1", auto_begin=False)
    assert lender.ran == OPENING


class Adapter(BorrowingMixin):
    date_function = None

    def __init__(self, borrowed: BorrowedConnections) -> None:
        self._borrowed = borrowed

    def _options(self, model: Any) -> Any:
        return SimpleNamespace(header=SimpleNamespace(statements=[]))


def test_a_refresh_sees_what_the_hooks_did(borrowed):
    """The validation comes before the hooks, and may have asked for the current catalog."""
    before = borrowed.get_thread_connection()
    Adapter(borrowed).prepare_incremental_view_session({})
    assert borrowed.get_thread_connection() is not before


def test_a_canceled_connection_is_not_borrowed_again(borrowed):
    borrowed.cancel(borrowed.get_thread_connection())
    Adapter(borrowed).prepare_incremental_view_session({})
    assert borrowed.get_thread_connection().handle.canceled


def test_types_and_plans_are_whole_unless_the_server_refuses_it(lender, borrowed):
    """Otherwise Spark prints 25 columns of a plan, and 25 fields of a type."""
    assert borrowed.get_thread_connection().handle.opened_with == WHOLE_PLANS
    lender.refuses = (OPENING[0],)
    lender.connection = lender.opened()
    assert list(borrowed.get_thread_connection().handle.opened_with) == list(WHOLE_PLANS)[1:]


def test_an_error_of_dbts_is_passed_on(borrowed):
    with pytest.raises(DbtRuntimeError, match="no t"):
        borrowed.add_query("fail", auto_begin=False)


def test_a_connection_that_cannot_be_opened_is_an_error_of_dbt(lender, borrowed):
    def refuse(connection: Connection) -> Connection:
        raise ConnectionRefusedError("nobody there")

    lender.profile.credentials = SimpleNamespace(method="thrift", type="spark", host="shop", port=10000)
    lender.connection = lender.opened(LazyHandle(refuse))
    with pytest.raises(
        DbtDatabaseError, match="cannot connect to the thrift server at shop:10000: nobody there"
    ):
        borrowed.get_thread_connection()
