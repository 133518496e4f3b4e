"""A connection to a thrift server, without the server."""

import threading
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from dbt.adapters.sparkivm.engine import AdapterEngine, spark_errors
from dbt.adapters.sparkivm.sql_settings import WHOLE_PLANS
from dbt.adapters.sparkivm.thrift import ThriftConnection
from dbt_common.exceptions import DbtRuntimeError
from TCLIService.ttypes import TOperationState

from sparkivm.engine import EngineError, EngineLost


def connected(cursor, host="spark.example.org"):
    """A connection whose statements this cursor runs."""
    credentials = SimpleNamespace(host=host, port=10000, poll_interval=0.1, query_timeout=None)
    return ThriftConnection(SimpleNamespace(cursor=lambda: cursor), credentials, query_retries=0)


class Cursor:
    """A cursor of a server on which a statement runs until it is canceled."""

    def __init__(self):
        self.started, self.state, self.ran = threading.Event(), TOperationState.RUNNING_STATE, []

    def execute(self, sql, bindings, async_):
        self.ran.append(sql)
        self.started.set()

    def poll(self):
        return SimpleNamespace(operationState=self.state, errorMessage=None)

    def cancel(self):
        self.canceled_by = threading.current_thread()
        self.state = TOperationState.CANCELED_STATE


def test_nothing_runs_after_a_cancel():
    cursor = Cursor()
    connection = connected(cursor)
    canceler = threading.Thread(target=lambda: (cursor.started.wait(), connection.cancel()))
    canceler.start()
    with pytest.raises(DbtRuntimeError):
        connection.cursor().execute("insert into state …")
    canceler.join()
    with pytest.raises(DbtRuntimeError, match="canceled"):
        connection.cursor().execute("create or replace table state …")
    assert cursor.ran == ["insert into state …"]
    assert cursor.canceled_by is threading.current_thread(), "the transport belongs to one thread"


def test_a_statement_that_exceeds_the_timeout_is_ended_and_nothing_is_tried_in_place_of_it():
    cursor = Cursor()
    connection = connected(cursor)
    connection.query_timeout = 0
    with pytest.raises(EngineLost, match="raise query_timeout in"), spark_errors():
        connection.cursor().execute("merge into state …")
    assert cursor.state == TOperationState.CANCELED_STATE


def test_a_statement_that_failed_has_ended():
    cursor = Cursor()
    cursor.state = TOperationState.ERROR_STATE
    with pytest.raises(EngineError, match="ERROR_STATE"), spark_errors():
        connected(cursor).cursor().execute("select 1 / 0")
    assert cursor.state == TOperationState.ERROR_STATE


class Commented:
    """dbt's connection manager, which appends a query comment; the server has one setting."""

    def __init__(self):
        self.ran = []

    def get_thread_connection(self):
        return SimpleNamespace(handle=SimpleNamespace(opened_with={}))

    def _add_query_comment(self, sql):
        return f"{sql}\n/* by dbt */"

    def exception_handler(self, sql):
        return nullcontext()

    def add_query(self, sql, auto_begin):
        self.ran.append(sql)
        return None, SimpleNamespace(fetchall=lambda: [("a", "1")], description=[("key",), ("value",)])


def test_settings_are_asked_for_without_the_comment():
    """Spark refuses `set /* … */`."""
    connections = Commented()
    engine = AdapterEngine(SimpleNamespace(), connections)
    assert engine.settings(["a"]) == {"a": "1"}
    engine.set({"a": "2"})
    assert connections.ran == ["set", "set `a`=`2`\n/* by dbt */"]


class Server:
    """A server on which one setting has a value or none."""

    def __init__(self, value):
        self.value, self.ran = value, []

    def execute(self, sql, bindings, async_):
        self.ran.append(sql)

    def poll(self):
        return SimpleNamespace(operationState=TOperationState.FINISHED_STATE, errorMessage=None)

    def fetchall(self):
        return [("key", self.value)]


@pytest.mark.parametrize(("value", "is_set"), [("<undefined>", True), ("50", False)])
def test_a_default_of_delta_is_replaced_unless_somebody_set_it(value, is_set):
    """By default Delta computes each snapshot in 50 tasks. Each server has its own defaults."""
    server = Server(value)
    connection = connected(server, host=f"server-{value}")
    connection.open_with({"a": "1"})
    partitions = "`spark.databricks.delta.snapshotPartitions`"
    whole_plans = [f"set `{key}`=`{value}`" for key, value in WHOLE_PLANS.items()]
    ours = [f"set {partitions}=`2`"] if is_set else []
    wanted = [f"set {partitions}", *ours, *whole_plans, "set `a`=`1`"]
    assert server.ran == wanted
