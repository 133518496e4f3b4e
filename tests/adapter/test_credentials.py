"""Profiles: what is sufficient, and what is refused."""

import pytest
from dbt.adapters.sparkivm.credentials import SparkIvmCredentials
from dbt_common.exceptions import DbtRuntimeError


def test_session_needs_a_schema_only():
    credentials = SparkIvmCredentials.from_dict({"method": "session", "schema": "shop"})
    assert credentials.type == "sparkivm"
    assert credentials.server_side_parameters == {"spark.sql.ansi.enabled": "false"}
    SparkIvmCredentials.validate({"method": "session", "schema": "shop"})


def test_a_profile_may_switch_ansi_on():
    credentials = SparkIvmCredentials.from_dict(
        {"method": "session", "schema": "shop", "server_side_parameters": {"spark.sql.ansi.enabled": True}}
    )
    assert credentials.server_side_parameters["spark.sql.ansi.enabled"] == "true"


def test_thrift_does_not_repeat_statements():
    credentials = SparkIvmCredentials.from_dict(
        {"method": "thrift", "schema": "shop", "host": "h", "user": "u"}
    )
    assert credentials.query_retries == 0
    assert credentials.poll_interval <= 1


@pytest.mark.parametrize("method", ["odbc", "http", None])
def test_other_methods_are_refused(method):
    with pytest.raises(DbtRuntimeError, match="use session, thrift or connect"):
        SparkIvmCredentials.from_dict({"method": method, "schema": "shop", "host": "h"})


@pytest.mark.parametrize("method", ["session", "connect"])
def test_missing_packages_are_named(method, monkeypatch):
    monkeypatch.setattr("dbt.adapters.sparkivm.credentials.find_spec", lambda name: None)
    with pytest.raises(DbtRuntimeError, match=rf"pip install '\.\[{method}\]'"):
        SparkIvmCredentials.from_dict({"method": method, "schema": "shop", "host": "h"})


def test_the_method_is_part_of_the_schema_of_a_profile():
    SparkIvmCredentials.validate({"method": "connect", "schema": "shop", "host": "h"})
