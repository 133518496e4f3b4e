"""A project of Iceberg tables in a Spark without Delta: states, views over views, mirrors, kept snapshots."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.dbt.other_dbt import run_beside
from tests.dbt.shop_project import LINES, REGIONS, SOURCES, SUMS, responses_in
from tests.dbt.spark_project import write_files
from tests.spark.iceberg_catalogs import EXTENSION
from tests.spark_settings import ICEBERG

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]

SMALL = """
{{ config(materialized='incremental_view') }}
select cast(customer as tinyint) as customer, cast(id as smallint) as id, min(cast(amount as tinyint)) as least
from {{ source('shop', 'orders') }} group by all
"""
FILES = """
{{ config(materialized='incremental_view') }} select p.id, p.price, o.amount
from {{ source('shop', 'prices') }} as p left join {{ source('shop', 'orders') }} as o on o.id = p.id
"""
PROJECT = """
name: shop
version: 1.0.0
profile: shop
models: {+file_format: iceberg}
vars: {how: iceberg}
"""
PROFILE = f"""
shop:
  target: dev
  outputs:
    dev:
      type: sparkivm
      method: session
      schema: analytics
      threads: 2
      server_side_parameters:
        spark.jars.packages: {ICEBERG}
        spark.sql.extensions: {EXTENSION}
        spark.sql.catalog.spark_catalog: org.apache.iceberg.spark.SparkSessionCatalog
        spark.sql.catalog.spark_catalog.type: hive
"""
STATEMENTS = {
    "tables": [
        "create schema if not exists analytics",
        "create table analytics.orders (id int, customer int, amount decimal(10,2)) using iceberg",
        "insert into analytics.orders values (1, 1, 10), (2, 1, 5), (3, 2, 7), (4, null, 1)",
        "create table analytics.customers (id int, name string, region string) using iceberg",
        "insert into analytics.customers values (1, 'Ada', 'eu'), (2, 'Bob', 'us')",
        "create table analytics.prices using parquet as select 1 as id, 1.5 as price union all select 2, 2.5",
    ],
    "changes": [
        "insert into analytics.orders values (5, 3, 2.5)",
        "insert into analytics.customers values (3, 'Cyd', 'eu')",
        "update analytics.customers set region = 'eu' where id = 2",
        "delete from analytics.orders where id = 1",
        "insert overwrite analytics.prices select 1 as id, 1.5 as price union all select 3, 4.5",
    ],
}
VIEWS = ("lines", "sums", "regions", "small", "of_files")
SCRIPT = """
from dbt.cli.main import dbtRunner
from pathlib import Path
import shutil, sys
for number, arguments in enumerate((
    ["run-operation", "run_all", "--args", "{name: tables}"],
    ["build"],
    ["build"],
    ["run-operation", "run_all", "--args", "{name: changes}"],
    ["build"],
    ["docs", "generate"],
    ["run-operation", "expire_incremental_view_snapshots", "--args", "{days: 0}"],
    ["build"],
    ["run-operation", "drop_incremental_view", "--args", "{view: small}"],
)):
    result = dbtRunner().invoke(arguments)
    assert result.success, (arguments, result.exception)
    if arguments == ["build"]:
        shutil.copytree("target", f"run_{number}/target")
from pyspark.sql import SparkSession
spark = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
assert "delta" not in spark.conf.get("spark.jars", "") + spark.conf.get("spark.jars.packages", "")
types = dict(spark.table("analytics.lines").dtypes)
left = [row.tableName for row in spark.sql("show tables in analytics").collect() if "small" in row.tableName]
assert not left, left
tags = [row.name for row in spark.sql("select name from analytics.orders.refs where type = 'TAG'").collect()]
assert [name.rpartition("_")[0] for name in sorted(tags)] == ["sparkivm_analytics_lines", "sparkivm_analytics_of_files"]
assert not [path for path in Path(".spark/warehouse").rglob("*small*") if path.is_file()]
"""


def test_a_project_without_delta(tmp_path):
    operation = (
        "{% macro run_all(name) %}{% for statement in "
        + json.dumps(STATEMENTS)
        + "[name] %}{% do run_query(statement) %}{% endfor %}{% endmacro %}"
    )
    sources = SOURCES.replace("{name: customers}]", "{name: customers}, {name: prices}]")
    kept = "{name: orders, config: {meta: {sparkivm: {keep_snapshots: 14 days}}}}"
    sources = sources.replace("{name: orders}", kept)
    sources += "".join(
        f"  - name: {name}\n    data_tests: [incremental_view_is_consistent]\n"
        + ("    config: {contract: {enforced: true}}\n" if name == "small" else "")
        + (
            "    columns: [{name: customer, data_type: tinyint}, {name: id, data_type: smallint}, "
            "{name: least, data_type: tinyint}]\n"
            if name == "small"
            else ""
        )
        for name in ("small", "of_files")
    )
    models = {"lines": LINES, "sums": SUMS, "regions": REGIONS, "small": SMALL, "of_files": FILES}
    files = {
        "dbt_project.yml": PROJECT,
        "profiles.yml": PROFILE,
        "macros/run_all.sql": operation,
        "models/sources.yml": sources,
        **{f"models/{name}.sql": text for name, text in models.items()},
    }
    write_files(tmp_path, files)
    run_beside((), tmp_path, SCRIPT)
    runs = [responses_in(tmp_path / f"run_{number}") for number in (1, 2, 4, 7)]
    assert [modes_of(run) for run in runs] == [
        dict.fromkeys(VIEWS, "create"),
        dict.fromkeys(VIEWS, "no_op"),
        dict.fromkeys(VIEWS, "incremental"),
        dict.fromkeys(VIEWS, "no_op"),
    ]


def modes_of(responses: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: responses[name]["mode"] for name in VIEWS}
