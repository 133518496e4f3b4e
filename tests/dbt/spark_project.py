"""A dbt-spark project with incremental views among other models, and a package with a dispatched macro."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

SOURCES = """
sources:
  - name: shop
    database: "{{ 'raw' if target.type not in ('spark', 'databricks') else '' }}"
    schema: "{{ target.schema }}"
    tables: [{name: orders}]
  - name: elsewhere
    config: {enabled: "{{ target.type != 'spark' }}"}
    tables: [{name: orders}]
"""
TESTS = """
models:
  - name: sales
    data_tests: [incremental_view_is_consistent]
  - name: of_regions
    data_tests: [incremental_view_is_consistent]
"""
# dbt's own macros, which dbt-spark implements with assertions.
SALES = """
{{ config(materialized=var('as', 'incremental_view'), file_format='delta') }}
{% if target.type == 'spark' %}
select o.region, count(*) as n, sum(o.amount) as amount, max({{ dbt.date_trunc('month', 'o.at') }}) as month,
  max({{ dbt.datediff("date'2024-01-01'", 'o.at', 'day') }}) as days
from {{ ref('priced_orders') }} as o group by o.region
{% else %}
select nothing from nowhere
{% endif %}
"""
OF_REGIONS = """
{{ config(materialized='incremental_view') }}
select r.name, s.n, s.amount, c.status from {{ ref('regions') }} as r
left join {{ ref('sales') }} as s on s.region = r.id
left join {{ ref('statuses') }} as c on c.id = r.id and c.dbt_valid_to is null
"""
LATEST = """
{{ config(materialized='incremental', file_format='delta', incremental_strategy='merge', unique_key='id') }}
select id, region, amount from {{ source('shop', 'orders') }}
{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}
"""
COUNTS = (
    "{{ config(materialized='table', file_format='delta') }} select count(*) as n from {{ ref('sales') }}"
)
SNAPSHOTS = """
snapshots:
  - name: statuses
    relation: ref('regions')
    config: {strategy: check, unique_key: id, check_cols: [status], file_format: delta}
"""
MODELS = {
    "sources.yml": SOURCES,
    "tests.yml": TESTS,
    "sales.sql": SALES,
    "of_regions.sql": OF_REGIONS,
    "latest.sql": LATEST,
    "counts.sql": COUNTS,
}
SEEDS = {"regions.csv": "id,name,status\n1,North,open\n2,South,open\n3,West,open\n"}
INCREMENTAL_VIEWS = ("sales", "of_regions", "priced_orders")

PACKAGE = {
    "dbt_project.yml": """
name: pricing
version: 1.0.0
models: {+enabled: "{{ target.type in ('spark', 'databricks') }}", +materialized: incremental_view}
""",
    "macros/price.sql": """
{% macro price(column) %}{{ return(adapter.dispatch('price', 'pricing')(column)) }}{% endmacro %}
{% macro default__price(column) %}no_such_function({{ column }}){% endmacro %}
{% macro spark__price(column) %}cast({{ column }} * 2 as decimal(12, 2)){% endmacro %}
""",
    "models/priced_orders.sql": """
select id, region, at, {{ pricing.price('amount') }} as amount from {{ source('shop', 'orders') }}
""",
}

TABLES = (
    "create table {schema}.orders (id int, region int, amount decimal(10,2), at timestamp) using delta",
    "insert into {schema}.orders values (1, 1, 10, timestamp'2024-01-05'), (2, 1, 5, timestamp'2024-02-01'), "
    "(3, 2, 7, timestamp'2024-01-01')",
)
CHANGES = (
    "insert into {schema}.orders values (4, 2, 1, timestamp'2024-03-01')",
    "update {schema}.orders set amount = 6 where id = 2",
    "delete from {schema}.orders where id = 1",
)


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write texts to paths below a folder."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def parse(root: Path) -> None:
    """Let dbt write what it keeps of a parse: copies of the project are read faster."""
    from dbt.cli.main import dbtRunner

    places = ["--project-dir", str(root), "--profiles-dir", str(root)]
    done = dbtRunner().invoke(["--log-level", "none", "--no-write-json", "parse", *places])
    assert done.success, done.exception


def write_package(root: Path) -> None:
    """Write the package beside a project; `packages.yml` names it as `local: pricing`."""
    write_files(root / "pricing", PACKAGE)


def modes_of_views(responses: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The modes of the incremental views in a run."""
    return {name: found["mode"] for name, found in responses.items() if name in INCREMENTAL_VIEWS}
