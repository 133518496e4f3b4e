"""Spark Connect: the connection string, times, and a server that does not answer; without a server."""

import socket
from datetime import datetime, timezone

import pytest
from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.sparkivm import connect
from dbt.adapters.sparkivm.connect import connect_url
from dbt.adapters.sparkivm.connections import SparkIvmConnectionManager
from dbt.adapters.sparkivm.credentials import SparkIvmCredentials
from dbt.adapters.sparkivm.spark_errors import SparkLost, is_lost
from grpc import StatusCode
from pyspark.errors.exceptions.connect import SparkConnectGrpcException
from pyspark.sql.connect.client.core import DefaultChannelBuilder
from pyspark.sql.types import IntegerType, StructField, StructType, TimestampNTZType, TimestampType


def test_parts_of_the_connection_string_cannot_become_others():
    url = connect_url("h", 15002, user="a;token=b", token="x/y=z&%", use_ssl=True)
    found = DefaultChannelBuilder(url)
    assert (found.userId, found.token, found.use_ssl) == ("a;token=b", "x/y=z&%", True)
    assert found.endpoint == "h:15002"


def test_a_local_server_needs_no_token():
    found = DefaultChannelBuilder(connect_url("h", 15002, user=None, token=None, use_ssl=False))
    assert not found.secure


@pytest.mark.parametrize(("given", "port"), [({}, 15002), ({"port": 7}, 7), ({"use_ssl": True}, 443)])
def test_port(given, port):
    assert credentials(**given).port == port


def credentials(**given):
    return SparkIvmCredentials.from_dict(
        {"method": "connect", "schema": "shop", "host": "127.0.0.1", **given}
    )


def test_timestamps_are_in_utc_and_others_as_they_are():
    schema = StructType(
        [
            StructField("a", TimestampType()),
            StructField("b", TimestampNTZType()),
            StructField("c", IntegerType()),
        ]
    )
    moments = connect._timestamps(schema)
    moment = datetime(2024, 3, 1, 20, tzinfo=timezone.utc)
    local = moment.astimezone().replace(tzinfo=None)  # as the client returns it
    assert connect._in_utc((local, local, 1), moments) == (moment, local, 1)
    assert connect._in_utc((None, None, None), moments) == (None, None, None)


def test_which_errors_mean_that_the_server_is_gone():
    assert is_lost(SparkConnectGrpcException("no", grpc_status_code=StatusCode.UNAVAILABLE))
    assert is_lost(SparkConnectGrpcException("[INVALID_HANDLE.SESSION_CHANGED] The handle is invalid."))
    assert not is_lost(SparkConnectGrpcException("[DIVIDE_BY_ZERO] Division by zero."))


def test_no_server(monkeypatch):
    retries = connect.DefaultPolicy
    monkeypatch.setattr(connect, "DefaultPolicy", lambda **_: retries(max_retries=1))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    connection = Connection(
        type="sparkivm", name=None, credentials=credentials(port=port), state=ConnectionState.INIT
    )
    with pytest.raises(SparkLost) as error:
        SparkIvmConnectionManager.open(connection)
    first, do = str(error.value.msg).strip().splitlines()
    assert first.startswith(f"cannot connect to the Spark Connect server at 127.0.0.1:{port}: ")
    assert "start it" in do
