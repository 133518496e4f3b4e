"""Other sources in a project: models of every materialization, files, change logs."""

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

from tests.dbt.shop_project import FEED, modes, responses, rows, run_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

VIEW = "{{ config(materialized='incremental_view', refresh_mode='incremental') }} "
YAML = """
sources:
  - name: shop
    schema: "{{ target.schema }}"
    tables:
      - name: orders
      - name: prices
        config: {meta: {sparkivm: {key: [id], mirror: {name: prices_kept, retention: 45 days}}}}
      - name: customer_log
        config:
          meta:
            sparkivm:
              key: [id]
              change_log: {order: [seq], operation: kind, columns: [id, name]}
models:
  - name: all_kinds
    data_tests: [incremental_view_is_consistent]
  - name: customers
    data_tests: [incremental_view_is_consistent]
    config: {contract: {enforced: true}}
    columns: [{name: id, data_type: int}, {name: name, data_type: string}]
seeds:
  - name: lookup
    config: {meta: {sparkivm: {mirror: true}}}
"""
MODELS = {
    "sources.yml": YAML,
    "as_table.sql": "{{ config(materialized='table', file_format='delta') }} select id, customer, amount * 2 as twice from {{ source('shop', 'orders') }}",
    "as_parquet.sql": "{{ config(materialized='table', file_format='parquet') }} select customer, count(*) as n from {{ source('shop', 'orders') }} group by customer",
    "as_view.sql": "{{ config(materialized='view') }} select customer, sum(twice) as total from {{ ref('as_table') }} group by customer",
    "as_ephemeral.sql": "{{ config(materialized='ephemeral') }} select id, name from {{ source('shop', 'customer_log') }} where id < 100",
    "as_incremental.sql": """{{ config(materialized='incremental', file_format='delta', incremental_strategy='merge', unique_key='id') }}
        select id, customer from {{ source('shop', 'orders') }} {% if is_incremental() %} where id >= 3 {% endif %}""",
    "customers.sql": VIEW + "select id, name from {{ source('shop', 'customer_log') }}",
    "all_kinds.sql": VIEW + """select 'incremental' as kind, id, cast(customer as string) as x from {{ ref('as_incremental') }}
        union all select 'ephemeral', id, name from {{ ref('as_ephemeral') }}
        union all select 'table', id, cast(twice as string) from {{ ref('as_table') }}
        union all select 'view', customer, cast(total as string) from {{ ref('as_view') }}
        union all select 'parquet', customer, cast(n as string) from {{ ref('as_parquet') }}
        union all select 'seed', customer, region from {{ ref('lookup') }}
        union all select 'snapshot', id, cast(amount as string) from {{ ref('orders_history') }} where dbt_valid_to is null
        union all select 'file', id, cast(price as string) from {{ source('shop', 'prices') }}""",
}  # fmt: skip
SNAPSHOT = """
{% snapshot orders_history %}
{{ config(target_schema=target.schema, file_format='delta', unique_key='id', strategy='check', check_cols=['amount']) }}
select id, amount from {{ source('shop', 'orders') }}
{% endsnapshot %}
"""
TABLES = (
    f"create table {{schema}}.orders (id int, customer int, amount decimal(10,2)) {FEED}",
    "insert into {schema}.orders values (1, 1, 10), (2, 1, 5), (3, 2, 7)",
    "create table {schema}.prices using parquet as select 1 as id, 1.5 as price union all select 2, 2.5",
    f"create table {{schema}}.customer_log (seq int, kind string, id int, name string) {FEED}",
    "insert into {schema}.customer_log values (1, 'c', 1, 'Ada'), (2, 'c', 2, 'Bob'), (3, 'c', 3, 'Eve'), (4, 'd', 3, 'Eve')",
)
CHANGES = (
    "insert into {schema}.orders values (4, 2, 1)",
    "update {schema}.orders set amount = 6 where id = 3",
    "insert overwrite {schema}.prices select 1 as id, 1.5 as price union all select 3, 4.5",
    "insert into {schema}.customer_log values (5, 'u', 2, 'Bo'), (6, 'd', 1, 'Ada')",
)


class TestSources:
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, dbt_profile_target):
        """ANSI is on here, as on most servers."""
        return dbt_profile_target | {"server_side_parameters": {"spark.sql.ansi.enabled": "true"}}

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"orders_history.sql": SNAPSHOT}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"lookup.csv": "customer,region\n1,eu\n2,us\n"}

    def test_everything_follows(self, project):
        run_sql(project, *TABLES)
        _, text = run_dbt_and_capture(["run-operation", "capture_changes", "--args", "{source: shop.prices}"])
        assert (
            f"{project.test_schema}.prices is mirrored by {project.test_schema}.prices_kept, version 0"
            in text
        )
        run_dbt(["build"])
        found = responses(project)
        assert (found["customers"]["mode"], found["all_kinds"]["mode"]) == ("create", "create"), found
        assert rows(project, "customers") == [(1, "Ada"), (2, "Bob")]

        run_sql(project, *CHANGES)
        write_file("customer,region\n1,eu\n2,uk\n", project.project_root, "seeds", "lookup.csv")
        run_dbt(["build"])
        found = responses(project)
        assert (found["customers"]["mode"], found["all_kinds"]["mode"]) == ("incremental", "incremental"), (
            found
        )
        assert rows(project, "customers") == [(2, "Bo")]
        found = {}
        for kind, id, value in rows(project, "all_kinds"):
            found.setdefault(kind, {})[id] = value
        assert found == {
            "incremental": {1: "1", 2: "1", 3: "2", 4: "2"},
            "ephemeral": {2: "Bo"},
            "table": {1: "20.00", 2: "10.00", 3: "12.00", 4: "2.00"},
            "view": {1: "30.00", 2: "14.00"},
            "parquet": {1: "2", 2: "2"},
            "seed": {1: "eu", 2: "uk"},
            "snapshot": {1: "10.00", 2: "5.00", 3: "6.00", 4: "1.00"},
            "file": {1: "1.5", 3: "4.5"},
        }
        run_dbt(["run", "--select", "customers"])
        assert modes(project) == {"customers": "no_op"}
        arguments = "{source: lookup, remove: true}"
        _, text = run_dbt_and_capture(["run-operation", "capture_changes", "--args", arguments])
        assert "lookup__ivm_mirror, the mirror of" in text
        _, text = run_dbt_and_capture(
            ["run-operation", "capture_changes", "--args", "{source: orders_history}"]
        )
        assert "records its changes" in text
