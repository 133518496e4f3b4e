"""`--empty`, `--sample`, `dbt show`, `dbt debug` and `dbt clone`."""

from importlib.metadata import version

import pytest
from dbt.tests.adapter.dbt_clone import test_dbt_clone
from dbt.tests.adapter.dbt_clone.test_dbt_clone import (
    BaseClonePossible,
    BaseCloneSameTargetAndState,
)
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebugInvalidProjectPostgres, BaseDebugPostgres
from dbt.tests.adapter.dbt_show.test_dbt_show import (
    BaseShowDoesNotHandleDoubleLimit,
    BaseShowLimit,
    BaseShowSqlHeader,
)
from dbt.tests.adapter.empty import _models as empty
from dbt.tests.adapter.empty.test_empty import (
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
    BaseTestEmptySeedFlag,
    MetadataWithEmptyFlag,
)
from dbt.tests.adapter.sample_mode.test_sample_mode import BaseSampleModeTest
from dbt.tests.util import run_dbt

from tests.dbt.adapter_suite.in_views import InStrictViews, InViews
from tests.dbt.adapter_suite.spark_sql import constants_in_spark_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]

DBT = tuple(map(int, version("dbt-core").split(".")[:2]))


@pytest.fixture(scope="module", autouse=True)
def words_of_spark():
    with constants_in_spark_sql(empty):
        yield


class TestEmpty(BaseTestEmpty): ...


class TestEmptyInViews(InStrictViews, BaseTestEmpty):
    def test_run_with_empty(self, project):
        """`--empty` builds views that are missing and does not touch others, so it comes first here."""
        run_dbt(["seed"])
        run_dbt(["run", "--empty"])
        self.assert_row_count(project, "model", 0)
        run_dbt(["run", "--full-refresh"])
        self.assert_row_count(project, "model", 3)
        run_dbt(["run", "--empty"])
        self.assert_row_count(project, "model", 3)


class TestEmptyInlineSourceRef(BaseTestEmptyInlineSourceRef): ...


class TestEmptyInlineSourceRefInViews(InStrictViews, BaseTestEmptyInlineSourceRef): ...


@pytest.mark.skipif(DBT < (1, 12), reason="dbt has `seed --empty` since 1.12")
class TestEmptySeedFlag(InStrictViews, BaseTestEmptySeedFlag): ...


class MetadataWithEmpty(MetadataWithEmptyFlag):
    """Without the models that dbt-spark cannot compile.

    It says that Spark does not drop columns, and describes the subquery that `--empty` makes of a ref.
    """

    @pytest.fixture(scope="class")
    def models(self):
        drops = "{% do alter_relation_add_remove_columns(my_seed, none, [my_column]) %}"
        return {
            "schema.yml": empty.SCHEMA,
            "control.sql": empty.CONTROL,
            "alter_relation_comment.sql": empty.ALTER_RELATION_COMMENT,
            "alter_column_comment.sql": empty.ALTER_COLUMN_COMMENT,
            "alter_relation_add_columns.sql": empty.ALTER_RELATION_ADD_REMOVE_COLUMNS.replace(drops, ""),
            "truncate_relation.sql": empty.TRUNCATE_RELATION,
        }

    @pytest.mark.parametrize(
        "model",
        "control alter_relation_comment alter_column_comment alter_relation_add_columns truncate_relation".split(),
    )
    def test_run(self, project, model):
        super().test_run(project, model)


class TestMetadataWithEmpty(MetadataWithEmpty): ...


class TestMetadataWithEmptyInViews(InStrictViews, MetadataWithEmpty): ...


class TestSampleMode(BaseSampleModeTest): ...


class TestSampleModeInViews(InViews, BaseSampleModeTest): ...


class TestShowLimitInViews(InStrictViews, BaseShowLimit): ...


class TestShowSqlHeader(BaseShowSqlHeader): ...


class TestShowSqlHeaderInViews(InViews, BaseShowSqlHeader): ...


class TestShowDoubleLimit(BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "PARSE_SYNTAX_ERROR"


class TestDebug(BaseDebugPostgres): ...


class TestDebugInvalidProject(BaseDebugInvalidProjectPostgres): ...


class CleanedUp:
    @pytest.fixture(autouse=True)
    def clean_up(self, project):
        yield
        with project.adapter.connection_named("__test"):
            for schema in (
                f"{project.test_schema}_seeds",
                f"{project.test_schema}_other",
                project.test_schema,
            ):
                project.adapter.drop_schema(project.adapter.Relation.create(schema=schema))


class TestClonePossible(CleanedUp, BaseClonePossible):
    def test_can_clone_true(self, project, unique_schema, other_schema):
        """The class clones once more with `--full-refresh`; outside Databricks, Delta clones over no table."""
        project.create_test_schema(other_schema)
        self.run_and_save_state(project.project_root, with_snapshot=True)
        command = ["clone", "--state", "state", "--target", "otherschema"]
        assert len(run_dbt(command)) == 4
        cloned = project.adapter.list_relations(database=project.database, schema=other_schema)
        assert sorted(relation.type for relation in cloned) == ["table", "table", "table", "view"]
        for options in ([], ["--resource-type", "model"]):
            assert all("no-op" in result.message.lower() for result in run_dbt([*command, *options]))


class TestCloneNotPossible(test_dbt_clone.TestPostgresCloneNotPossible): ...


class TestCloneSameTargetAndState(CleanedUp, BaseCloneSameTargetAndState): ...
