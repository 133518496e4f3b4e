"""The examples of the README and of the migration guide, as one project: built, changed, and asked by their commands."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from dbt.adapters.sparkivm.command import main
from dbt.tests.util import run_dbt, run_dbt_and_capture

from tests.dbt.shop_project import responses
from tests.docs.examples import EXAMPLES, commands, example

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]

REGION_SALES = example("README.md", "{{ config(materialized='incremental_view') }}\nselect c.region")
LOADED = example("README.md", "{{ config(materialized='incremental_view', stamp_columns")
SOURCES = example("README.md", "sources:\n")
TESTS = example("README.md", "models:\n")
BEFORE = example("docs/from_incremental.md", "{{ config(materialized='incremental',")
AFTER = example("docs/from_incremental.md", "{{ config(materialized='incremental_view')")

FEED = "using delta tblproperties (delta.enableChangeDataFeed = true)"
TABLES = (
    "create schema shop",
    f"create table shop.orders (id int, customer_id int, region string, amount decimal(10,2), ordered_at timestamp, updated_at timestamp) {FEED}",
    "insert into shop.orders values (1, 1, 'eu', 10, timestamp'2026-01-01 00:00:00', timestamp'2026-01-01 00:00:00'), "
    "(2, 2, 'us', 5, timestamp'2026-01-02 00:00:00', timestamp'2026-01-02 00:00:00')",
    "create table shop.prices (id int, price int) using parquet",
    "insert into shop.prices values (1, 10), (2, 20)",
    "create table shop.customers (op string, ts_ms bigint, before struct<id: int, name: string>, after struct<id: int, name: string>, "
    f"source struct<lsn: bigint>) {FEED}",
    "insert into shop.customers values ('c', 1, null, named_struct('id', 1, 'name', 'Ada'), named_struct('lsn', 1L))",
)
CHANGES = (
    "insert into shop.orders values (3, 1, 'eu', 7, timestamp'2026-01-03 00:00:00', timestamp'2026-01-03 00:00:00')",
    "insert into shop.prices values (3, 30)",
    "insert into shop.customers values ('u', 2, null, named_struct('id', 1, 'name', 'Eve'), named_struct('lsn', 2L))",
)


class TestExamples:
    @pytest.fixture(scope="class")
    def models(self):
        declared = yaml.safe_load(SOURCES)
        declared["sources"][0]["tables"].append({"name": "orders"})
        return {
            "region_sales.sql": REGION_SALES,
            "loaded.sql": LOADED,
            "customers.sql": "{{ config(materialized='table', file_format='delta') }} select id, 'eu' as region from values (1), (2) as t(id)",
            "prices.sql": "{{ config(materialized='incremental_view') }} select * from {{ source('shop', 'prices') }}",
            "names.sql": "{{ config(materialized='incremental_view') }} select id, name from {{ source('shop', 'customers') }}",
            "regions.sql": BEFORE,
            "sources.yml": yaml.safe_dump(declared),
            "tests.yml": TESTS,
        }

    @pytest.fixture(scope="class", autouse=True)
    def schemas(self, project):
        yield
        for schema in ("shop", "mirrors"):
            project.run_sql(f"drop schema if exists {schema} cascade")

    def test_as_a_reader_would(self, project):
        for statement in TABLES:
            project.run_sql(statement)
        run_dbt(["run"])
        (Path(project.project_root) / "models" / "regions.sql").write_text(AFTER)
        run_dbt(["build"])
        for statement in CHANGES:
            project.run_sql(statement)
        run_dbt(["build"])
        found = modes_of_views(project)
        assert found == dict.fromkeys(("region_sales", "loaded", "prices", "names", "regions"), "incremental")
        assert project.run_sql(f"select name from {project.test_schema}.names", fetch="all")[0][0] == "Eve"
        stamps = project.run_sql(
            f"select count(distinct loaded_at) from {project.test_schema}.loaded", fetch="all"
        )
        assert stamps[0][0] == 2

    def test_the_commands(self, project, monkeypatch):
        """In their order on the page, except those that need another Spark."""
        monkeypatch.chdir(project.project_root)
        done = []
        for one in (one for one in EXAMPLES if one.page == "README.md" and not one.language):
            for said in commands(one):
                words = [word.replace("analytics.", f"{project.test_schema}.") for word in said]
                if words[:2] == ["dbt", "run-operation"]:
                    _, log = run_dbt_and_capture(words[1:])
                    assert "Encountered an error" not in log
                elif words[0] == "sparkivm" and words[1] != "server":
                    self.sparkivm(project, words[1:])
                else:
                    continue
                done.append(" ".join(words[:3]))
        assert "sparkivm status" in done
        assert "dbt run-operation drop_incremental_view" in done
        run_dbt(["build"])

    @staticmethod
    def sparkivm(project, words):
        arguments, _, target = " ".join(words).partition(" > ")
        where = ["--project-dir", str(project.project_root), "--profiles-dir", str(project.profiles_dir)]
        done = CliRunner().invoke(main, [*arguments.split(), *where], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        if target:
            Path(target).write_text(done.output)


def modes_of_views(project):
    found = {name: response.get("mode") for name, response in responses(project).items()}
    return {name: mode for name, mode in found.items() if mode}
