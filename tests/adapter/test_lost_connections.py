"""A Spark that stopped, does not answer or was stopped by the user: one sentence, what to do, and no retry."""

import logging
import sys
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace

import pytest
from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.exceptions.connection import FailedToConnectError
from dbt.adapters.sparkivm.connections import SparkIvmConnectionManager, lost_as_one_sentence
from dbt.adapters.sparkivm.engine import spark_errors
from dbt.adapters.sparkivm.incremental_view import author_errors
from dbt.adapters.sparkivm.session import be_quiet
from dbt.adapters.sparkivm.spark_errors import SparkLost
from dbt.adapters.sparkivm.thrift import ThriftConnection
from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError
from py4j.java_gateway import GatewayClient
from py4j.protocol import Py4JNetworkError
from thrift.transport.TTransport import TTransportException

from sparkivm.engine import EngineError, EngineLost

SESSION = SimpleNamespace(method="session", spark_directory="/project/.spark")
THRIFT = SimpleNamespace(
    method="thrift", host="spark.example.org", port=10000, poll_interval=0.1, query_timeout=None
)
CUT = TTransportException(TTransportException.END_OF_FILE, "TSocket read 0 bytes")


def raised_from(error, cause):
    error.__cause__ = cause
    return error


class Manager(SparkIvmConnectionManager):
    """A manager without a profile; its connection is open, and canceled or not."""

    def __init__(self, credentials, canceled=False):
        self.profile = SimpleNamespace(credentials=credentials)
        self.handle = SimpleNamespace(canceled=canceled)

    def get_if_exists(self):
        return SimpleNamespace(state=ConnectionState.OPEN, handle=self.handle)


def test_a_session_that_stopped():
    with pytest.raises(SparkLost) as error, Manager(SESSION).exception_handler("select 1"):
        raise Py4JNetworkError("Answer from Java side is empty")
    text = str(error.value.msg)
    assert "Spark has stopped; see the end of /project/.spark/spark.log" in text
    assert "run dbt again" in text
    assert len(text.splitlines()) <= 5


def test_a_server_that_stopped():
    polling = raised_from(
        DbtRuntimeError("Connection lost while polling query status after 1 attempts."), CUT
    )
    with pytest.raises(SparkLost) as error, Manager(THRIFT).exception_handler("select 1"):
        raise polling
    text = str(error.value.msg)
    assert "the thrift server at spark.example.org:10000 has stopped, or the connection is broken" in text
    assert len(text.splitlines()) <= 5


def test_a_server_that_is_not_there():
    refused = TTransportException(TTransportException.NOT_OPEN, "Could not connect to any of [('…', 10000)]")
    failed = raised_from(FailedToConnectError(f"failed to connect: TTransportException: {refused}"), refused)
    with pytest.raises(SparkLost) as error, lost_as_one_sentence(THRIFT, opening=True):
        raise failed
    text = str(error.value.msg)
    assert text.startswith(
        "cannot connect to the thrift server at spark.example.org:10000: TTransportException: Could"
    )
    assert "profiles.yml" in text
    assert len(text.splitlines()) <= 5


def test_why_a_session_did_not_start_stays():
    gone = Py4JNetworkError("Answer from Java side is empty")
    failed = raised_from(FailedToConnectError("the catalog is open in another process"), gone)
    with pytest.raises(FailedToConnectError, match="open in another process"), lost_as_one_sentence(SESSION):
        raise failed


def test_what_spark_answers_is_an_error_of_the_statement():
    with pytest.raises(DbtDatabaseError, match="DIVIDE_BY_ZERO") as error:  # noqa: SIM117
        with Manager(THRIFT).exception_handler("select 1 / 0"):
            raise ValueError("[DIVIDE_BY_ZERO] no.\n\tat org.x.Y.z(Y.scala:1)")
    assert not isinstance(error.value, SparkLost)
    with pytest.raises(DbtRuntimeError, match="of dbt's"), Manager(THRIFT).exception_handler("select 1"):
        raise DbtRuntimeError("an error of dbt's own")


@pytest.mark.parametrize(
    ("raised", "kind", "words"),
    [
        (Py4JNetworkError("Answer from Java side is empty"), SparkLost, "Spark has stopped"),
        (
            ValueError("[DIVIDE_BY_ZERO] no.\n\tat org.x.Y.z(Y.scala:1)"),
            DbtDatabaseError,
            r"\[DIVIDE_BY_ZERO\] no\.$",
        ),
    ],
)
def test_a_select_may_fail_while_its_rows_are_fetched(raised, kind, words):
    """dbt fetches without an exception handler; in a session, the statement runs only then."""

    def fetchall():
        raise raised

    manager = Manager(SESSION)
    manager.query_header = None
    cursor = SimpleNamespace(fetchall=fetchall, description=[("a",)])
    manager.add_query = lambda sql, auto_begin: (None, cursor)
    with pytest.raises(kind, match=words):
        manager.execute("select 1 / 0 as a", fetch=True)


def test_what_fails_after_a_cancel_is_canceled():
    with (
        pytest.raises(SparkLost, match="canceled"),
        Manager(SESSION, canceled=True).exception_handler("select 1"),
    ):
        raise ValueError("[OPERATION_CANCELED] by interruptAll")


@contextmanager
def layers():
    """Nested handlers, as for a metadata statement over SQL."""
    manager = Manager(THRIFT)
    described = (author_errors(), spark_errors(), manager.exception_handler("describe"))
    selected = (spark_errors(), manager.exception_handler("select"))
    with ExitStack() as stack:
        for one in (*described, *selected):
            stack.enter_context(one)
        yield


def test_it_is_said_once():
    with pytest.raises(DbtDatabaseError) as error, layers():
        raise CUT
    assert str(error.value.msg).count("the thrift server") == 1
    with pytest.raises(EngineLost), spark_errors(), Manager(THRIFT).exception_handler("select"):
        raise CUT


def test_nothing_is_tried_in_place_of_it():
    assert not issubclass(EngineLost, EngineError)


def test_py4j_prints_no_stack_of_it(monkeypatch, capsys):
    def cut(command):
        raise Py4JNetworkError("Answer from Java side is empty")

    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [logging.StreamHandler(sys.stderr)])
    monkeypatch.setattr(root, "filters", [])
    client = GatewayClient()
    connection = SimpleNamespace(send_command=cut, close=lambda reset: None)
    monkeypatch.setattr(client, "_get_connection", lambda: connection)
    client.send_command("x", retry=False)
    assert "Traceback" in capsys.readouterr().err, "without be_quiet, py4j prints a stack"
    be_quiet()
    client.send_command("x", retry=False)
    logging.error("somebody else's")
    assert capsys.readouterr().err == "somebody else's\n"


def test_what_has_ended_is_not_ended_again():
    def cut(*_):
        raise CUT

    cursor = SimpleNamespace(cancel=cut, close=cut)
    connection = ThriftConnection(SimpleNamespace(cursor=lambda: cursor, close=cut), THRIFT, query_retries=0)
    connection.cursor()
    connection.close()
    connection.cancel()
    assert connection.poll_interval > 0


def test_a_server_that_stops_while_settings_are_made():
    def cut(*_, **__):
        raise CUT

    server = SimpleNamespace(cursor=lambda: SimpleNamespace(execute=cut))
    connection = ThriftConnection(server, THRIFT, query_retries=0)
    with (
        pytest.raises(SparkLost, match="cannot connect to the thrift server"),
        lost_as_one_sentence(THRIFT, opening=True),
    ):
        connection.open_with({"a": "1"})


def test_opening_says_where(monkeypatch):
    """dbt-spark opens it; this fails as PyHive does where no server listens."""
    credentials = SimpleNamespace(**vars(THRIFT), connect_retries=0, connect_timeout=1, retry_all=False, token=None,
                                  user="dbt", schema="s", use_ssl=False, auth=None, kerberos_service_name=None,
                                  password=None, server_side_parameters={})  # fmt: skip

    def refused(**_):
        raise TTransportException(TTransportException.NOT_OPEN, "Could not connect")

    monkeypatch.setattr("dbt.adapters.spark.connections.hive.connect", refused)
    connection = Connection("sparkivm", None, credentials={}, state=ConnectionState.INIT)
    connection._credentials = credentials
    with pytest.raises(SparkLost, match=r"cannot connect to the thrift server at spark\.example\.org:10000"):
        SparkIvmConnectionManager.open(connection)
