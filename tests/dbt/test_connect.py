"""The materialization over Spark Connect. Java is that of the other tests; the client only knows a port."""

import threading
import time
from types import SimpleNamespace

import pytest
from dbt.adapters.sparkivm.connect import ConnectConnection, connect_url
from dbt.adapters.sparkivm.spark_errors import SparkLost

from tests.dbt.server_project import ServerProject

pytestmark = [pytest.mark.dbt, pytest.mark.slow]


@pytest.fixture(scope="module")
def port(spark):
    context = spark._jsc.sc()
    context.conf().set("spark.connect.grpc.binding.address", "127.0.0.1")
    context.conf().set("spark.connect.grpc.binding.port", "0")
    services = spark._jvm.org.apache.spark.sql.connect.service
    service = getattr(getattr(services, "SparkConnectService$"), "MODULE$")
    service.start(context)
    yield service.localPort()
    none = spark._jvm.scala.Option.empty()
    service.stop(none, none)


@pytest.fixture(scope="class")
def dbt_profile_target(port):
    return {"type": "sparkivm", "method": "connect", "host": "127.0.0.1", "port": port, "threads": 2}


@pytest.mark.nightly
class TestOverConnect(ServerProject):
    pass


def test_sessions(port):
    """Settings and temporary views are a session's own; Ctrl-C ends the statement of one session."""
    url = connect_url("127.0.0.1", port, user=None, token=None, use_ssl=False)
    one, two = (ConnectConnection(url, {"spark.sql.shuffle.partitions": "3"}) for _ in range(2))
    run(one, "create temporary view t as select timestamp'2024-03-01 20:00:00 UTC' as at, 1 as x")
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        run(two, "select * from t")
    assert run(two, "set spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", "3")]
    ((at, _),) = run(one, "select * from t")
    assert at.isoformat() == "2024-03-01T20:00:00+00:00"
    ended = SimpleNamespace(error=None)

    def endless():
        try:
            run(one, f"select count(*) from range({10**13}) where cast(uuid() as string) = 'x'")
        except Exception as error:
            ended.error = error

    thread = threading.Thread(target=endless)
    thread.start()
    time.sleep(2)
    one.cancel()
    thread.join(timeout=60)
    assert "cancel" in str(ended.error).lower()
    with pytest.raises(SparkLost):
        run(one, "select 1")
    assert run(two, "select 1") == [(1,)]
    one.close()
    two.close()


def run(connection, sql):
    cursor = connection.cursor()
    cursor.execute(sql)
    return [tuple(row) for row in cursor.fetchall()]
