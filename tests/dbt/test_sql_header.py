"""`sql_header` prepares the session in which a view is checked, refreshed, explained and tested."""

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

from tests.dbt.shop_project import FEED, modes, responses, rows, run_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

DAYS = """
{{{{ config(materialized='incremental_view', refresh_mode='incremental') }}}}
{{% call set_sql_header(config) %}}
  set `my.comment` = `a;b`; -- two statements
  set spark.sql.session.timeZone = {zone};
{{% endcall %}}
select cast(at as date) as day, count(*) as n from {{{{ source('shop', 'visits') }}}} group by 1
"""
TWICE = """
{{ config(materialized='incremental_view', sql_header='create temporary function twice(x int) returns int return x * 2',
          contract={'enforced': true}) }}
select twice(id) as b from {{ source('shop', 'visits') }}
"""
YAML = """
sources:
  - name: shop
    schema: "{{ target.schema }}"
    tables: [{name: visits}]
models:
  - name: days
    data_tests: [incremental_view_is_consistent]
  - name: twice
    data_tests: [incremental_view_is_consistent]
    columns: [{name: b, data_type: int}]
"""
EXPLAIN = ["run-operation", "explain_incremental_view", "--args"]


class TestSqlHeader:
    @pytest.fixture(scope="class")
    def models(self):
        return {"days.sql": DAYS.format(zone="Asia/Tokyo"), "twice.sql": TWICE, "shop.yml": YAML}

    def test_it_holds_wherever_the_model_is_read(self, project):
        run_sql(
            project,
            f"create table {{schema}}.visits (id int, at timestamp) {FEED}",
            "insert into {schema}.visits values (1, timestamp'2024-03-01 20:00:00 UTC')",
        )
        run_dbt(["run"])
        assert modes(project) == {"days": "create", "twice": "create"}
        assert [str(row[0]) for row in rows(project, "days")] == ["2024-03-02"]

        run_sql(project, "insert into {schema}.visits values (2, timestamp'2024-03-01 21:00:00 UTC')")
        run_dbt(["run"])
        assert modes(project) == {"days": "incremental", "twice": "full"}
        assert [(str(day), n) for day, n in rows(project, "days")] == [("2024-03-02", 2)]
        assert rows(project, "twice") == [(2,), (4,)]
        assert len(run_dbt(["test"])) == 2

        run_dbt(["run"])
        assert modes(project) == {"days": "no_op", "twice": "full"}, "a new function body cannot be seen"
        assert "create temporary function twice" in responses(project)["twice"]["reason_text"]
        _, text = run_dbt_and_capture([*EXPLAIN, "{model: twice}"])
        assert "EXPRESSION_NOT_SUPPORTED: sql_header has create temporary function" in text
        _, text = run_dbt_and_capture([*EXPLAIN, "{model: days}"])
        assert "next refresh: no_op" in text

        write_file(DAYS.format(zone="UTC"), project.project_root, "models", "days.sql")
        run_dbt(["run", "--select", "days"])
        assert responses(project)["days"]["reason"] == "CONFIG_CHANGED"
        assert [(str(day), n) for day, n in rows(project, "days")] == [("2024-03-01", 2)]
        # Another statement that the compiler does not understand counts too.
        write_file(DAYS.format(zone="UTC").replace("a;b", "c"), project.project_root, "models", "days.sql")
        run_dbt(["run", "--select", "days"])
        assert responses(project)["days"]["reason"] == "CONFIG_CHANGED"
