"""dbt's commands and flags that decide which models run, and against which relations."""

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture

from tests.dbt.shop_project import CHANGES, LINES, MODELS, SUMS, modes, responses, run_sql, sources_in
from tests.dbt.two_environments import CI, TwoEnvironments, edit, save_state

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]

VERSIONS = """
models:
  - name: totals
    latest_version: 2
    access: public
    group: finance
    versions: [{v: 1}, {v: 2}]
groups:
  - name: finance
    owner: {name: Finance}
"""
TOTALS = "{{ config(materialized='incremental_view') }} select region, sum(amount) as s from {{ ref('lines') }} group by region"
HOOKED = """
{{ config(
    materialized='incremental_view',
    pre_hook="create table if not exists {{ this.schema }}.log (what string) using delta",
    post_hook=[
      "optimize {{ this }}",
      "insert into {{ this.schema }}.log select '{{ '{{ not rendered again }}' }}' from {{ this }} limit 1",
    ],
) }}
select region, count(*) as n from {{ ref('lines') }} group by region
"""


class TestDefer(TwoEnvironments):
    def test_a_view_that_is_not_built_here(self, project, ci):
        """Its test compares production's view."""
        assert len(run_dbt(["test", *CI, "--defer", "--select", "sums"])) == 1

    def test_only_what_was_edited_is_built(self, project, ci):
        edit(project, "sums", SUMS.replace("count(*) as orders", "count(*) as orders, min(amount) as least"))
        run_sql(project, *CHANGES)
        run_dbt(["run"])  # production goes on
        run_dbt(["build", *CI, "--defer", "--select", "state:modified"])
        assert modes_of(project, "sums") == {"sums": "create"}
        assert tables_in(project, ci) == {"sums", "sums__ivm"}
        run_sql(project, "insert into {schema}.orders values (9, 1, 9)")
        run_dbt(["run", "--select", "lines"])
        run_dbt(["run", *CI, "--defer", "--select", "sums"])
        assert modes_of(project, "sums") == {"sums": "incremental"}
        assert len(run_dbt(["test", *CI, "--defer", "--select", "sums"])) == 1

    def test_favor_state(self, project, ci):
        """A view here is built over production's, also if there is a lower one here."""
        run_dbt(["run", *CI, "--defer", "--select", "lines"])
        run_dbt(["run", *CI, "--defer", "--favor-state", "--select", "regions"])
        run_sql(project, "insert into {schema}.orders values (10, 2, 9)")
        run_dbt(["run"])
        run_dbt(["run", *CI, "--defer", "--favor-state", "--select", "regions"])
        assert modes_of(project, "regions") == {"regions": "incremental"}

    def test_nothing_is_modified(self, project):
        run_dbt(["compile"])
        save_state(project)
        assert not run_dbt(["ls", *CI, "--select", "state:modified"])


class TestRetry(TwoEnvironments):
    def test_the_failed_models_run_again(self, project):
        edit(project, "sums", SUMS.replace("count(*)", "count(no_such_column)"))
        run_sql(project, *CHANGES)
        run_dbt(["run"], expect_pass=False)
        edit(project, "sums", SUMS)
        run_dbt(["retry"])
        assert modes(project) == {"sums": "incremental", "regions": "incremental"}
        assert len(run_dbt(["test"])) == 3


class TestVersionsAndHooks(TwoEnvironments):
    @pytest.fixture(scope="class")
    def models(self, models):
        return {
            "lines.sql": LINES, "totals_v1.sql": TOTALS, "totals_v2.sql": TOTALS.replace("sum", "max"),
            "hooked.sql": HOOKED, "over.sql": "{{ config(materialized='incremental_view') }} select s from {{ ref('totals', v=1) }}",
            "sources.yml": MODELS["sources.yml"].split("models:")[0], "versions.yml": VERSIONS,
        }  # fmt: skip

    @pytest.fixture(scope="class", autouse=True)
    def built(self, project):
        run_sql(project, *sources_in())
        run_dbt(["run"])

    def test_versions_are_models(self, project):
        assert {"totals_v1", "totals_v2", "totals_v1__ivm", "totals_v2__ivm"} <= tables_in(
            project, project.test_schema
        )
        run_sql(project, *CHANGES)
        run_dbt(["run"])
        assert set(modes(project).values()) == {"incremental"}
        _, text = run_dbt_and_capture(
            ["run-operation", "explain_incremental_view", "--args", "{model: totals.v1}"]
        )
        assert "next refresh: " in text

    def test_maintenance_in_hooks_reaches_the_state(self, project):
        said = project.run_sql(f"select distinct what from {project.test_schema}.log", fetch="all")
        assert [tuple(row) for row in said] == [("{{ not rendered again }}",)]
        run_dbt(["run", "--select", "hooked"])
        assert modes(project) == {"hooked": "no_op"}

    def test_show(self, project):
        _, text = run_dbt_and_capture(["show", "--select", "totals", "--output", "json"])
        assert '"region": "eu"' in text
        _, text = run_dbt_and_capture(["show", "--inline", "select count(*) as n from {{ ref('over') }}"])
        assert "n" in text


def modes_of(project, *models):
    found = responses(project)
    return {model: found[model]["mode"] for model in models}


def tables_in(project, schema):
    return {row[1] for row in project.run_sql(f"show tables in {schema}", fetch="all")}
