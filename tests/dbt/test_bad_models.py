"""Models that cannot be views: an error that names the model, and no change."""

import pytest
from dbt.tests.util import run_dbt, write_file

from tests.dbt.shop_project import FEED, rows, run_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

GOOD = "{{ config(materialized='incremental_view') }} select id from {{ source('shop', 'orders') }}"
YAML = """
sources:
  - name: shop
    schema: "{{ target.schema }}"
    tables: [{name: orders}, {name: missing}]
models:
  - name: in_contract
    columns: [{name: id, data_type: int}]
"""
_VIEW = "{{ config(materialized='incremental_view') }} "
_INSERT = "from {{ source('shop', 'orders') }} insert into {{ target.schema }}.kept select id"
BAD = {
    "unknown_value": ("{{ config(materialized='incremental_view', refresh_mode='fast') }} select 1 as a", "refresh_mode is 'fast'"),
    "unknown_capture": ("{{ config(materialized='incremental_view', change_capture='no') }} select 1 as a", "never_alter"),
    "self_reference": (_VIEW + "select * from {{ this }}", "the model reads itself"),
    "own_state": (_VIEW + "select * from {{ target.schema }}.own_state__ivm", "the model reads itself"),
    "two_statements": (_VIEW + "select 1 as a; select 2 as b", "2 statements"),
    "no_select": (_VIEW + "drop table {{ source('shop', 'orders') }}", "statement"),
    "no_text": (_VIEW + "-- nothing", ""),
    "missing_source": (_VIEW + "select * from {{ source('shop', 'missing') }}", "missing"),
    "duplicate_columns": (_VIEW + "select id, id + 1 as ID from {{ source('shop', 'orders') }}", "two output columns are named"),
    "hidden_name": (_VIEW + "select id as __ivm_n from {{ source('shop', 'orders') }}", "has a reserved name"),
    "wrong_column": (_VIEW + "select nope from {{ source('shop', 'orders') }}", "nope"),
    "multi_insert": (_VIEW + _INSERT + " insert into {{ target.schema }}.kept select id + 1", "is a command, INSERT"),
    "from_insert": (_VIEW + _INSERT, "line 1, column"),
    "with_insert": (_VIEW + "with x as (select 1 as id) insert into {{ target.schema }}.kept select id from x", "is a command, INSERT"),
    "in_contract": (_VIEW.replace("') }}", "', contract={'enforced': true}) }}") + _INSERT, "is a command, INSERT"),
    "script": (_VIEW + "begin insert into {{ target.schema }}.kept values (1); select 1 as id; end", "starts with begin"),
    "of_a_value": ("{{ config(materialized='incremental_view', pre_hook='set my.word=insert into') }} from {{ source('shop', 'orders') }} ${my.word} {{ target.schema }}.kept select id", "is a command, INSERT"),
    "wrong_syntax": (_VIEW + "selec id form {{ source('shop', 'orders') }}", ""),
}  # fmt: skip


class TestBadModels:
    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": YAML, **{f"{name}.sql": GOOD for name in BAD}}

    def test_errors_name_the_model_and_change_nothing(self, project):
        run_sql(
            project,
            f"create table {{schema}}.orders (id int) {FEED}",
            "insert into {schema}.orders values (1)",
            "create table {schema}.kept (id int) using delta",
        )
        run_dbt(["run"])
        run_sql(project, "insert into {schema}.orders values (2)")
        for name, (text, _) in BAD.items():
            write_file(text, project.project_root, "models", f"{name}.sql")
        before = self.versions(project)
        results = run_dbt(["run"], expect_pass=False)
        messages = {result.node.name: (result.status, result.message) for result in results}
        assert set(messages) == set(BAD)
        wrong = {
            name: messages[name]
            for name, (_, words) in BAD.items()
            if messages[name][0] != "error"
            or words not in messages[name][1]
            or "incremental_view" not in messages[name][1]
            or name not in messages[name][1]
            or "Traceback" in messages[name][1]
        }
        assert not wrong
        assert self.versions(project) == before
        assert all(rows(project, name) == [(1,)] for name in BAD)

    @staticmethod
    def versions(project):
        """All relations of the schema; states with their versions."""
        names = [row[1] for row in project.run_sql(f"show tables in {project.test_schema}", fetch="all")]
        history = "describe history {}.{} limit 1"
        return {
            name: project.run_sql(history.format(project.test_schema, name), fetch="one")[0]
            if "__ivm" in name or name == "kept"
            else None
            for name in names
        }


@pytest.mark.nightly
class TestOtherMaterializations:
    """A model changes its materialization; its name always shows a relation."""

    TABLE = GOOD.replace("incremental_view", "table").replace("') }}", "', file_format='delta') }}", 1)

    @pytest.fixture(scope="class")
    def models(self):
        return {"sources.yml": YAML, "m.sql": self.TABLE}

    def test_table_to_view_and_back(self, project):
        run_sql(
            project,
            f"create table {{schema}}.orders (id int) {FEED}",
            "insert into {schema}.orders values (1)",
        )
        run_dbt(["run"])
        write_file(BAD["wrong_column"][0], project.project_root, "models", "m.sql")
        run_dbt(["run"], expect_pass=False)
        assert rows(project, "m") == [(1,)]
        for text in (GOOD, self.TABLE, GOOD):
            write_file(text, project.project_root, "models", "m.sql")
            run_dbt(["run"])
            assert rows(project, "m") == [(1,)]
        run_sql(project, "insert into {schema}.orders values (2)")
        run_dbt(["run"])
        assert rows(project, "m") == [(1,), (2,)]
        nameless = (
            "select first(id), 0 + count(*) as `how many` from {{ source('shop', 'orders') }} where id > 1"
        )
        write_file(_VIEW + nameless, project.project_root, "models", "m.sql")
        for _ in range(2):
            run_dbt(["run"])
            assert rows(project, "m") == [(2, 1)]
