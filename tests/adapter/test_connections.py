"""Connections share tables and nothing else; a canceled connection stops."""

import threading
import time
from pathlib import Path

import pytest
from dbt.adapters.sparkivm.session import SessionConnection, copied_session, open_session
from dbt_common.exceptions import DbtRuntimeError

pytestmark = pytest.mark.spark


@pytest.fixture
def connect(spark):
    return lambda given=None: open_session(given or {}, Path("unused"))


def run(connection, sql):
    cursor = connection.cursor()
    cursor.execute(sql)
    return [tuple(row) for row in cursor.fetchall()]


def test_settings_and_temporary_views_are_isolated(connect, spark):
    default = spark.conf.get("spark.sql.shuffle.partitions")
    one, two = connect({"spark.sql.shuffle.partitions": "3"}), connect()
    run(one, "set a.b = 1")
    run(one, "create temporary view t as select 1 as x")
    assert run(two, "set a.b") == [("a.b", "<undefined>")]
    assert run(one, "set spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", "3")]
    assert run(two, "set spark.sql.shuffle.partitions") == [("spark.sql.shuffle.partitions", default)]
    run(two, "create temporary view t as select 2 as x")
    assert run(one, "select * from t") == [(1,)]


def test_a_copy_has_what_the_session_has_and_leaves_nothing_in_it(root_session):
    """With `type: spark`, hooks run in a session that all threads share."""
    root_session.conf.set("a.b", "1")
    root_session.sql("create or replace temporary view mine as select 1 as x")
    try:
        copy = copied_session()
        assert run(copy, "set a.b") == [("a.b", "1")]
        assert run(copy, "select * from mine") == [(1,)]
        assert copy.setting("spark.databricks.delta.snapshotPartitions") == "1", "as set by somebody"
        run(copy, "set a.b = 2")
        run(copy, "create temporary view ours as select 1 as x")
        assert root_session.conf.get("a.b") == "1"
        assert not root_session.catalog.tableExists("ours")
    finally:
        root_session.conf.unset("a.b")
        root_session.catalog.dropTempView("mine")


def test_a_spark_without_delta(spark, monkeypatch):
    monkeypatch.setattr(SessionConnection, "setting", lambda self, key: None)
    with pytest.raises(DbtRuntimeError, match="need Delta or an Iceberg session catalog") as error:
        copied_session()
    assert "spark.jars.packages: io.delta:delta-spark_" in str(error.value)


def test_jobs_carry_the_label(connect, spark):
    connection = connect()
    connection.label = "dbt: sales"
    run(connection, "select 1")
    assert spark.sparkContext.getLocalProperty("spark.job.description") == "dbt: sales"


def test_cancel_ends_the_running_job_of_this_connection_only(connect):
    victim, other = connect(), connect()
    errors, rows = [], []

    def long(connection, n, errors):
        try:
            rows.append(
                run(connection, f"select count(*) from range({n}) where cast(uuid() as string) = 'x'")
            )
        except Exception as error:
            errors.append(error)

    other_errors = []
    threads = [
        threading.Thread(target=long, args=(victim, 10**13, errors)),
        threading.Thread(target=long, args=(other, 10**6, other_errors)),
    ]
    for thread in threads:
        thread.start()
    time.sleep(2)
    victim.cancel()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert len(errors) == 1
    assert not other_errors
    with pytest.raises(DbtRuntimeError, match="canceled"):
        run(victim, "select 1")


def test_cancel_ends_a_job_that_starts_later(connect):
    """A statement that Spark is still planning has no job."""
    victim = connect()
    with victim.at_work():
        victim.cancel()
        time.sleep(0.5)
        with pytest.raises(Exception, match=r"(?i)cancel"):
            victim.session.sql(
                f"select count(*) from range({10**13}) where cast(uuid() as string) = 'x'"
            ).collect()
