"""The materialization through dbt: its reports, tests and explanations."""

from decimal import Decimal

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

from tests.dbt.shop_project import CHANGES, MODELS, modes, responses, rows, run_sql, sources_in

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

CONSISTENT = """
models:
  - name: m
    config: {materialized: "{{ var('as', 'table') }}"}
    data_tests: [incremental_view_is_consistent]
"""
NO_OP = {"lines": "no_op", "sums": "no_op", "regions": "no_op"}
INCREMENTAL = dict.fromkeys(NO_OP, "incremental")


@pytest.fixture(scope="class")
def models():
    return MODELS


@pytest.fixture(scope="class", autouse=True)
def built(project):
    run_sql(project, *sources_in())
    run_dbt(["run"])


class TestLife:
    def test_three_layers_follow_their_sources(self, project):
        assert modes(project) == dict.fromkeys(NO_OP, "create")
        run_sql(project, *CHANGES)
        run_dbt(["run"])
        assert modes(project) == INCREMENTAL
        assert rows(project, "regions") == [("eu", 3, Decimal("14.50")), (None, 1, Decimal("1.00"))]
        assert len(run_dbt(["test"])) == 3
        run_dbt(["run"])
        assert modes(project) == NO_OP
        assert [response["statements"] for response in responses(project).values()] == [0, 0, 0]

    def test_what_run_results_say(self, project):
        run_sql(project, "insert into {schema}.orders values (6, 1, 3)")
        _, log = run_dbt_and_capture(["run", "--select", "lines"])
        response = responses(project)["lines"]
        assert (response["mode"], response["code"], response["apply_form"]) == (
            "incremental",
            "INCREMENTAL",
            "recompute",
        )
        assert response["statements"] == 1
        assert '"LeftJoin": "transition by key"' in response["strategies"]
        assert '"name": "' + project.test_schema + '.orders", "from_version": ' in response["sources"]
        assert response["compile_s"] > 0
        assert "changed rows" in response["explanation"]
        assert "1 of 2 sources changed" in response["_message"]
        assert "INCREMENTAL" in log
        assert "1 of 2 sources changed" in log
        run_dbt(["run"])

    def test_full_refresh(self, project):
        run_dbt(["run", "--full-refresh", "--select", "sums"])
        response = responses(project)["sums"]
        assert (response["mode"], response["reason"]) == ("full", "FULL_REFRESH_REQUESTED")
        run_dbt(["run"])
        assert modes(project)["sums"] == "no_op"
        assert len(run_dbt(["test"])) == 3

    def test_empty_leaves_a_view_as_it_is(self, project):
        before = rows(project, "sums")
        run_dbt(["build", "--empty"])  # and no test fails, although the SELECT is another one
        found = responses(project)
        assert {view: found[view]["mode"] for view in NO_OP} == NO_OP
        assert rows(project, "sums") == before

    def test_explain(self, project):
        run_sql(project, "insert into {schema}.orders values (7, 1, 3)")
        _, text = run_dbt_and_capture(
            ["run-operation", "explain_incremental_view", "--args", "{model: lines}"]
        )
        assert "LeftJoin" in text
        assert "[transition by key]" in text
        assert "next refresh: incremental" in text
        assert "change data feed, 1 changed rows" in text
        arguments = "{model: sums, format: mermaid}"
        _, text = run_dbt_and_capture(["run-operation", "explain_incremental_view", "--args", arguments])
        assert "flowchart BT" in text
        assert "Aggregate by" in text
        _, text = run_dbt_and_capture(
            ["run-operation", "explain_incremental_view", "--args", "{model: nothing}"], expect_pass=False
        )
        assert "there is no model named nothing" in text
        run_dbt(["run"])

    def test_names_in_the_schema(self, project):
        found = project.run_sql(f"show tables in {project.test_schema}", fetch="all")
        assert {row[1] for row in found} == {
            "orders", "customers", "lines", "lines__ivm", "sums", "sums__ivm", "regions", "regions__ivm",
        }  # fmt: skip

    # From here on, somebody damages stored data or edits the models.

    def test_state_that_somebody_wrote_to(self, project):
        run_sql(project, "insert into {schema}.lines__ivm values (1, 1, 'Eve', 'eu')")
        result = run_dbt(["test", "--select", "lines"], expect_pass=False)[0]
        assert result.status == "error"
        assert "STATE_MODIFIED" in result.message
        run_dbt(["run", "--select", "lines"])
        assert responses(project)["lines"]["reason"] == "STATE_MODIFIED"
        run_dbt(["test", "--select", "lines"])

    @pytest.mark.nightly
    def test_state_that_is_wrong_without_a_trace(self, project, spark):
        """As a bug of ours could leave it: the commit has a build's frontier, before which nothing is checked."""
        run_dbt(["run", "--full-refresh", "--select", "sums"])
        session = spark.newSession()
        newest = session.sql(f"describe history {project.test_schema}.sums__ivm limit 1").collect()[0]
        session.conf.set("spark.databricks.delta.commitInfo.userMetadata", newest["userMetadata"])
        session.sql(f"update {project.test_schema}.sums__ivm set __ivm_n = __ivm_n + 1 where name = 'Ada'")
        result = run_dbt(["test", "--select", "sums"], expect_pass=False)[0]
        assert (result.status, result.failures) == ("fail", 2)

    @pytest.mark.nightly
    def test_models_that_were_edited(self, project):
        """dbt compiles tests for many commands, also for models that did not run since the edit."""
        run_dbt(["run"])
        lines = MODELS["lines.sql"]
        write_file(lines + "\n-- edited\n", project.project_root, "models", "lines.sql")
        run_dbt(["run", "--select", "lines"])
        assert modes(project) == {"lines": "no_op"}
        run_dbt(["test", "--select", "lines"])
        write_file(f"select * from ({lines}) where id > 1", project.project_root, "models", "lines.sql")
        run_dbt(["compile"])
        run_dbt(["docs", "generate"])
        result = run_dbt(["test", "--select", "lines"], expect_pass=False)[0]
        assert result.status == "error"
        assert "not the one that the view was refreshed with" in result.message
        write_file(lines, project.project_root, "models", "lines.sql")
        run_dbt(["show", "--select", "lines"])


@pytest.mark.nightly
class TestEmpty:
    @pytest.fixture(scope="class")
    def models(self):
        return {"m.sql": "select 1 as id", "m.yml": CONSISTENT}

    def test_a_state_of_before(self, project):
        """Meanwhile a table replaced the view. The state's rows are removed, and the name stays."""
        built_as = ["--vars", "as: incremental_view"]
        run_dbt(["run", *built_as])
        run_dbt(["run", "--vars", "as: table"])
        result = run_dbt(["test", "--vars", "as: table"], expect_pass=False)[0]
        assert "is materialized as table" in result.message
        run_dbt(["build", "--empty", *built_as])
        assert rows(project, "m") == []
        run_dbt(["build", *built_as])
        assert rows(project, "m") == [(1,)]


@pytest.mark.nightly
class TestAuxiliaryViews:
    @pytest.fixture(scope="class")
    def models(self):
        counts = "select n, count(*) as customers from (select customer, count(*) as n from {{ source('shop', 'orders') }} "
        config = "{{ config(materialized='incremental_view', auxiliary_views='always') }} "
        return {
            "counts.sql": f"{config}{counts} group by customer) group by n",
            "sources.yml": MODELS["sources.yml"],
        }

    def test_they_come_and_go_with_their_view(self, project):
        run_sql(project, *CHANGES)
        run_dbt(["run"])
        assert modes(project) == {"counts": "incremental"}
        assert rows(project, "counts") == [(1, 4)]
        arguments = ["run-operation", "explain_incremental_view", "--args", "{model: counts}"]
        assert "counts__ivm_aux_1, refreshed first" in run_dbt_and_capture(arguments)[1]
        drop = ["run-operation", "drop_incremental_view", "--args", "{view: counts}"]
        assert "drop table if exists" in run_dbt_and_capture(drop)[1]
        found = project.run_sql(f"show tables in {project.test_schema}", fetch="all")
        assert {row[1] for row in found} == {"orders", "customers"}
        assert "check the name" in run_dbt_and_capture(drop, expect_pass=False)[1]
