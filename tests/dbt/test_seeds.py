"""`dbt build` with unchanged and changed seeds, a table and a snapshot, and views over all of them."""

import pytest
from dbt.tests.util import run_dbt, write_file

from tests.dbt.shop_project import responses, rows, run_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

VIEW = "{{ config(materialized='incremental_view', refresh_mode='incremental') }} "
CONFIG = "seeds: [{name: regions, config: {file_format: delta}, columns: [{name: id, description: the region's id}]}]"
SNAPSHOT = """
snapshots:
  - name: history
    relation: ref('regions')
    config: {strategy: check, unique_key: id, check_cols: [name], file_format: delta}
"""
MODELS = {
    "of_seed.sql": VIEW + "select id, name from {{ ref('regions') }}",
    "of_files.sql": VIEW + "select id, name from {{ ref('in_parquet') }}",
    "as_table.sql": "{{ config(materialized='table', file_format='delta') }} select id, upper(name) as name from {{ ref('regions') }}",
    "of_table.sql": VIEW + "select id, name from {{ ref('as_table') }}",
    "of_snapshot.sql": VIEW + "select id, name from {{ ref('history') }} where dbt_valid_to is null",
}
VIEWS = ("of_seed", "of_files", "of_table", "of_snapshot")
FIRST = "id,name,since,share\n1,North,2024-01-01,0.5\n2,O'South,,\n3,West,2024-03-01,1.25\n"
SECOND = FIRST.replace("West", "East") + "4,South,2024-04-01,2\n"


def modes_of(found):
    return {view: found[view]["mode"] for view in VIEWS}


class KeptSeeds:
    """Over each connection."""

    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "regions.csv": self.printable(FIRST),
            "in_parquet.csv": self.printable(FIRST),
            "seeds.yml": CONFIG,
        }

    def printable(self, text):
        return text

    def test_builds(self, project):
        write_file(SNAPSHOT, project.project_root, "snapshots", "snapshots.yml")
        run_dbt(["build"])
        first = rows(project, "regions")
        assert modes_of(responses(project)) == dict.fromkeys(VIEWS, "create")

        version = self.version(project, "regions")
        run_dbt(["build"])
        found = responses(project)
        assert found["regions"]["_message"] == "NO_OP"
        assert modes_of(found) == dict.fromkeys(VIEWS, "no_op")
        assert rows(project, "regions") == first
        assert self.version(project, "regions") == version

        for seed in ("regions.csv", "in_parquet.csv"):
            write_file(self.printable(SECOND), project.project_root, "seeds", seed)
        run_sql(project, "insert into {schema}.regions select 9, 'Mine', null, null")
        run_dbt(["build"])
        found = responses(project)
        assert found["regions"]["_message"] == "INCREMENTAL +2 -2"
        assert modes_of(found) == dict.fromkeys(VIEWS, "incremental")
        assert self.version(project, "regions") == version + 3, "their row, our change, our record"
        changed = rows(project, "regions")
        assert [row[1] for row in changed] == [row[1].replace("West", "East") for row in first] + ["South"]
        assert rows(project, "of_seed") == rows(project, "of_files") == [row[:2] for row in changed]

        run_dbt(["seed", "--full-refresh", "--select", "regions"])
        assert responses(project)["regions"]["_message"].startswith("CREATE")
        assert rows(project, "regions") == changed

    def version(self, project, table):
        history = project.run_sql(f"describe history {project.test_schema}.{table} limit 1", fetch="all")
        return history[0][0]


@pytest.mark.nightly
class TestOfTypeSparkIvm(KeptSeeds):
    pass


class TestOfTypeSpark(KeptSeeds):
    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark):
        return {"type": "spark", "method": "session", "host": "none", "threads": 2}

    def printable(self, text):
        """dbt-spark's method `session` escapes no quotes."""
        return text.replace("'", "")


@pytest.mark.nightly
class TestDroppedByAHook:
    @pytest.fixture(scope="class")
    def seeds(self):
        hook = 'pre_hook: "drop table if exists {{ this }}"'
        return {"regions.csv": FIRST, "seeds.yml": CONFIG.replace("file_format", f"{hook}, file_format")}

    def test_it_is_created_in_each_run(self, project):
        for _ in range(2):
            run_dbt(["seed"])
            assert responses(project)["regions"]["_message"] == "INSERT 3"
            assert len(rows(project, "regions")) == 3
