"""dbt's test classes of materialized views, with an incremental view as the materialized view."""

import pytest
from dbt.tests.adapter.materialized_view import files
from dbt.tests.adapter.materialized_view.basic import MaterializedViewBasic
from dbt.tests.adapter.materialized_view.changes import (
    MaterializedViewChanges,
    MaterializedViewChangesApplyMixin,
)
from dbt.tests.util import get_model_file, run_dbt, set_model_file

from tests.dbt.adapter_suite.in_views import materialized_as_view
from tests.spark_settings import LAKE

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


def relation_type(project, relation):
    """An incremental view is a view that has the properties of a refresh."""
    described = {
        row[0]: row[1] for row in project.run_sql(f"describe table extended {relation}", fetch="all")
    }
    if described["Type"] != "VIEW":
        return "table"
    return "materialized_view" if "sparkivm.made_for" in described.get("Table Properties", "") else "view"


def run_model(*options):
    """The result of a run of the view, as run_results.json has it."""
    results = run_dbt(["run", "--select", "my_materialized_view", *options])
    return results[0].adapter_response


def swap(project, relation, old, new):
    text = get_model_file(project, relation)
    assert f"materialized='{old}'" in text
    set_model_file(project, relation, text.replace(f"materialized='{old}'", f"materialized='{new}'"))


class TestBasic(MaterializedViewBasic):
    @pytest.fixture(scope="class", autouse=True)
    def models(self):
        return {
            "my_table.sql": files.MY_TABLE,
            "my_view.sql": files.MY_VIEW,
            "my_materialized_view.sql": materialized_as_view(files.MY_MATERIALIZED_VIEW),
        }

    @staticmethod
    def insert_record(project, table, record):
        project.run_sql(f"insert into {table} (id, value) values {record}")

    @staticmethod
    def refresh_materialized_view(project, materialized_view):
        assert run_model()["mode"] == "incremental"

    @staticmethod
    def query_row_count(project, relation):
        return project.run_sql(f"select count(*) from {relation}", fetch="one")[0]

    @staticmethod
    def query_relation_type(project, relation):
        return relation_type(project, relation)

    @staticmethod
    def swap_table_to_materialized_view(project, table):
        swap(project, table, "table", "incremental_view")

    @staticmethod
    def swap_view_to_materialized_view(project, view):
        swap(project, view, "view", "incremental_view")

    @staticmethod
    def swap_materialized_view_to_table(project, materialized_view):
        swap(project, materialized_view, "incremental_view", "table")

    @staticmethod
    def swap_materialized_view_to_view(project, materialized_view):
        swap(project, materialized_view, "incremental_view", "view")

    def test_materialized_view_create_idempotent(self, project, my_materialized_view):
        super().test_materialized_view_create_idempotent(project, my_materialized_view)
        assert run_model()["mode"] == "no_op"

    def test_materialized_view_full_refresh(self, project, my_materialized_view):
        """The class looks for a line in the log that dbt's own materialized views write."""
        assert run_model("--full-refresh")["mode"] == "full"
        assert self.query_relation_type(project, my_materialized_view) == "materialized_view"


class TestChanges(MaterializedViewChangesApplyMixin, MaterializedViewChanges):
    """Another format of the state replaces it; other options are applied when it is replaced.

    The class looks for lines in the log that dbt's own materialized views write.
    """

    @pytest.fixture(scope="class", autouse=True)
    def models(self):
        return {"my_materialized_view.sql": materialized_as_view(files.MY_MATERIALIZED_VIEW)}

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {}

    @staticmethod
    def query_relation_type(project, relation):
        return relation_type(project, relation)

    @staticmethod
    def check_start_state(project, materialized_view):
        assert state_provider(project, materialized_view, "spark_catalog") == "delta"

    @staticmethod
    def change_config_via_alter(project, materialized_view):
        add_config(project, materialized_view, "partition_by='id'")

    @staticmethod
    def check_state_alter_change_is_applied(project, materialized_view): ...

    @staticmethod
    def change_config_via_replace(project, materialized_view):
        add_config(project, materialized_view, f"file_format='iceberg', state_catalog='{LAKE}'")

    @staticmethod
    def check_state_replace_change_is_applied(project, materialized_view):
        assert state_provider(project, materialized_view, LAKE) == "iceberg"

    def test_full_refresh_occurs_with_changes(self, project, my_materialized_view):
        self.change_config_via_alter(project, my_materialized_view)
        self.change_config_via_replace(project, my_materialized_view)
        assert run_model("--full-refresh")["mode"] == "full"
        assert self.query_relation_type(project, my_materialized_view) == "materialized_view"
        self.check_state_replace_change_is_applied(project, my_materialized_view)

    def test_change_is_applied_via_alter(self, project, my_materialized_view):
        """A run with another partitioning does nothing; the next rebuild applies it."""
        self.check_start_state(project, my_materialized_view)
        self.change_config_via_alter(project, my_materialized_view)
        assert run_model()["mode"] == "no_op"
        assert partitions(project, my_materialized_view) == []
        assert run_model("--full-refresh")["mode"] == "full"
        assert partitions(project, my_materialized_view) == ["id"]

    def test_change_is_applied_via_replace(self, project, my_materialized_view):
        self.check_start_state(project, my_materialized_view)
        self.change_config_via_replace(project, my_materialized_view)
        assert run_model()["mode"] == "full"
        self.check_state_replace_change_is_applied(project, my_materialized_view)


def add_config(project, relation, text):
    model = get_model_file(project, relation)
    set_model_file(project, relation, model.replace("materialized=", f"{text}, materialized="))


def described_state(project, view, catalog):
    state = f"{catalog}.{view.schema}.{view.identifier}__ivm"
    return project.run_sql(f"describe table extended {state}", fetch="all")


def state_provider(project, view, catalog):
    return {row[0]: row[1] for row in described_state(project, view, catalog)}["Provider"]


def partitions(project, view):
    state = f"{view.schema}.{view.identifier}__ivm"
    return list(project.run_sql(f"describe detail {state}", fetch="one")[7])
