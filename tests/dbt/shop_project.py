"""A dbt project with three layers of views over two sources, and helpers for its tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SOURCES = """
sources:
  - name: shop
    schema: "{{ target.schema }}"
    tables: [{name: orders}, {name: customers}]
models:
  - name: lines
    data_tests: [incremental_view_is_consistent]
  - name: sums
    data_tests: [incremental_view_is_consistent]
  - name: regions
    data_tests: [incremental_view_is_consistent]
"""
LINES = """
{{ config(materialized='incremental_view') }}
select o.id, o.amount, c.name, c.region
from {{ source('shop', 'orders') }} as o left join {{ source('shop', 'customers') }} as c on o.customer = c.id
"""
SUMS = """
{{ config(materialized='incremental_view', refresh_mode='incremental') }}
select name, region, count(*) as orders, sum(amount) as amount, max(amount) as most
from {{ ref('lines') }} group by name, region
"""
REGIONS = """
{{ config(materialized='incremental_view', refresh_mode='incremental') }}
select region, count(*) as customers, sum(amount) as amount from {{ ref('sums') }} group by region
"""
MODELS = {"lines.sql": LINES, "sums.sql": SUMS, "regions.sql": REGIONS, "sources.yml": SOURCES}
FEED = "using delta tblproperties (delta.enableChangeDataFeed = true)"


def sources_in(using: str = FEED) -> tuple[str, ...]:
    """The statements that make the sources."""
    return (
        f"create table {{schema}}.orders (id int, customer int, amount decimal(10,2)) {using}",
        "insert into {schema}.orders values (1, 1, 10), (2, 1, 5), (3, 2, 7), (4, null, 1)",
        f"create table {{schema}}.customers (id int, name string, region string) {using}",
        "insert into {schema}.customers values (1, 'Ada', 'eu'), (2, 'Bob', 'us')",
    )


CHANGES = (
    "insert into {schema}.orders values (5, 3, 2.5)",
    "insert into {schema}.customers values (3, 'Cyd', 'eu')",
    "update {schema}.customers set region = 'eu' where id = 2",
    "delete from {schema}.orders where id = 1",
)


def run_sql(project: Any, *statements: str) -> None:
    for statement in statements:
        project.run_sql(statement.format(schema=project.test_schema))


def responses(project: Any) -> dict[str, dict[str, Any]]:
    """The adapter responses in run_results.json, by model."""
    return responses_in(Path(project.project_root))


def responses_in(root: Path) -> dict[str, dict[str, Any]]:
    """The same for a project in a folder."""
    results = json.loads((root / "target" / "run_results.json").read_text())["results"]
    return {entry["unique_id"].split(".")[-1]: entry["adapter_response"] for entry in results}


def modes(project: Any) -> dict[str, str]:
    return {name: response["mode"] for name, response in responses(project).items()}


def rows(project: Any, relation: str) -> list[tuple[Any, ...]]:
    found = project.run_sql(f"select * from {project.test_schema}.{relation}", fetch="all")
    return sorted((tuple(row) for row in found), key=repr)
