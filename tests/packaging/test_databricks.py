"""`type: databricks` with the real package, which is not installed with this one: parsing, the adapter's methods."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dbt.other_dbt import run_beside
from tests.dbt.spark_project import write_files

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

PACKAGES = (
    "dbt-databricks==1.12.8 dbt-spark==1.10.3 databricks-sdk<0.118 databricks-sql-connector<4.4.1 google-auth pyasn1 "
    "pyasn1_modules keyring jaraco.classes jaraco.functools jaraco.context more_itertools lz4 pybreaker pyjwt oauthlib "
    "pandas cryptography cffi"
).split()
PROFILE = (
    "lake: {target: dev, outputs: {dev: {type: databricks, host: lake.example.org, http_path: /sql/1.0/warehouses/x, "
    "token: x, catalog: main, schema: shop}}}"
)
MODEL = """
{{ config(materialized='incremental_view', liquid_clustered_by='k') }}
{% if target.type in ('spark', 'databricks') %}
select k, {{ dbt.date_trunc('month', 'max(at)') }} as month from {{ source('shop', 'orders') }} group by k
{% endif %}
"""
SCRIPT = """
from dbt.cli.main import dbtRunner
from dbt.adapters.factory import FACTORY
for _ in range(2):
    result = dbtRunner().invoke(["parse", "--no-partial-parse"])
    assert result.success, result.exception
    assert "macro.dbt_sparkivm.materialization_incremental_view_spark" in result.result.macros
adapter = FACTORY.plugins["databricks"].adapter
assert adapter.__name__ == "DatabricksAdapter", adapter
assert hasattr(adapter, "refresh_incremental_view")
"""


def test_a_project_is_parsed(tmp_path: Path) -> None:
    files = {
        "dbt_project.yml": "{name: lake, version: 1.0.0, profile: lake}",
        "profiles.yml": PROFILE,
        "models/months.sql": MODEL,
        "models/shop.yml": "sources: [{name: shop, tables: [{name: orders}]}]\n"
        "models: [{name: months, data_tests: [incremental_view_is_consistent]}]\n",
    }
    write_files(tmp_path, files)
    run_beside(PACKAGES, tmp_path, SCRIPT)
