"""Names that two models need, and existing relations, through dbt."""

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file

from tests.dbt.shop_project import rows, run_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

VIEW = "{{ config(materialized='incremental_view') }} select 1 as id"


class TestNames:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "o.sql": VIEW,
            "o__ivm.sql": VIEW,
            "low.sql": VIEW.replace("view'", "view', alias='same'"),
            "high.sql": VIEW.replace("view'", "view', alias='SAME'"),
            "former.sql": VIEW,
        }

    def test_collisions_leftovers_and_a_former_table(self, project):
        run_sql(project, "create table {schema}.former using parquet as select 7 as mine")
        results = run_dbt(["run"], expect_pass=False)
        messages = {result.node.name: result.message for result in results if result.status == "error"}
        assert set(messages) == {"o", "o__ivm", "low", "high"}
        schema = project.test_schema
        assert f"{schema}.o__ivm would be its state and the relation of model.test.o__ivm" in messages["o"]
        assert f"{schema}.same would be its relation and the relation of model.test.low" in messages["high"]
        assert all("give one of them another alias" in message for message in messages.values())

        assert rows(project, "former") == [(1,)]
        assert rows(project, "former__ivm_replaced") == [(7,)]
        found = project.run_sql(f"show tables in {schema}", fetch="all")
        assert {row[1] for row in found} == {"former", "former__ivm", "former__ivm_replaced"}
        _, text = run_dbt_and_capture(["run", "--select", "former"])
        assert "NO_OP" in text

        write_file(VIEW.replace("incremental_view", "table"), project.project_root, "models", "former.sql")
        run_dbt(["run", "--select", "former"])
        _, text = run_dbt_and_capture(["run-operation", "incremental_view_leftovers"])
        assert f"{schema}.former__ivm: state, model.test.former is not built as the view" in text
        assert f"{schema}.former__ivm_replaced: put aside" in text
        run_dbt(["run-operation", "incremental_view_leftovers", "--args", "{drop: true}"])
        found = project.run_sql(f"show tables in {schema}", fetch="all")
        assert {row[1] for row in found} == {"former"}
        assert rows(project, "former") == [(1,)]
