"""`type: databricks` with the real package, which this package does not install."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.dbt.other_dbt import run_beside
from tests.dbt.spark_project import write_files
from tests.dbt.thrift_server import start_server

pytestmark = [pytest.mark.thrift, pytest.mark.slow, pytest.mark.nightly]

PACKAGES = (
    "dbt-databricks==1.12.8 dbt-spark==1.10.3 databricks-sdk<0.118 databricks-sql-connector<4.4.1 google-auth pyasn1 "
    "pyasn1_modules keyring jaraco.classes jaraco.functools jaraco.context more_itertools lz4 pybreaker pyjwt oauthlib "
    "pandas numpy cryptography cffi"
).split()
PROFILE = (
    "lake: {target: dev, outputs: {dev: {type: databricks, host: lake.example.org, http_path: /sql/1.0/warehouses/x, "
    "token: x, catalog: spark_catalog, schema: lake}}}"
)
MODEL = """
{{ config(materialized='incremental_view', liquid_clustered_by='k') }}
{% if target.type in ('spark', 'databricks') %}
select k, {{ dbt.date_trunc('month', 'max(at)') }} as month, count(*) as n from {{ source('shop', 'orders') }} group by k
{% endif %}
"""
YAML = (
    "sources: [{name: shop, schema: lake, tables: [{name: orders}]}]\n"
    "models: [{name: months, data_tests: [incremental_view_is_consistent]}]\n"
)
SCRIPT = """
import tests.packaging.databricks_driver as driver
from dbt.adapters.factory import FACTORY
from dbt.cli.main import dbtRunner

def run(*statements):
    cursor = driver.Connection().cursor()
    for statement in statements:
        cursor.execute(statement)

def dbt(*arguments):
    result = dbtRunner().invoke(list(arguments))
    assert result.success, (arguments, result.exception)
    return result.result

def mode_of(command):
    return next(one for one in dbt(command) if one.node.name == "months").adapter_response["mode"]

for _ in range(2):
    assert "macro.dbt_sparkivm.materialization_incremental_view_spark" in dbt("parse", "--no-partial-parse").macros
adapter = FACTORY.plugins["databricks"].adapter
assert adapter.__name__ == "DatabricksAdapter", adapter
assert hasattr(adapter, "refresh_incremental_view")

run(
    "create schema lake",
    "create table lake.orders (k int, at timestamp) using delta tblproperties (delta.enableChangeDataFeed = true)",
    "insert into lake.orders values (1, timestamp'2020-01-02 00:00:00'), (2, timestamp'2020-02-02 00:00:00')",
)
assert "date_trunc('month', max(at))" in dbt("compile")[0].node.compiled_code
dbt("run-operation", "explain_incremental_view", "--args", "{model: months}")
assert mode_of("build") == "create"
run("delete from lake.orders where k = 1")
assert mode_of("build") == "incremental"
assert mode_of("run") == "no_op"
"""


def test_a_project_runs_over_a_stand_in_for_the_driver(tmp_path: Path) -> None:
    """All of dbt-databricks except its driver's connections, which lead to a thrift server."""
    files = {
        "dbt_project.yml": "{name: lake, version: 1.0.0, profile: lake}",
        "profiles.yml": PROFILE,
        "models/months.sql": MODEL,
        "models/shop.yml": YAML,
    }
    write_files(tmp_path, files)
    port, process = start_server(tmp_path / "server")
    try:
        run_beside(PACKAGES, tmp_path, SCRIPT, environment={"THRIFT_PORT": str(port)})
    finally:
        os.kill(process, signal.SIGTERM)
