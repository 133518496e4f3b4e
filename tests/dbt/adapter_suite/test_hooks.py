"""Hooks of models, seeds, snapshots and runs."""

from pathlib import Path

import pytest
from dbt.tests.adapter.hooks import test_model_hooks
from dbt.tests.adapter.hooks.test_model_hooks import (
    BaseDuplicateHooksInConfigs,
    BaseHookRefs,
    BaseHooksRefsOnSeeds,
    BasePrePostModelHooks,
    BasePrePostModelHooksInConfig,
    BasePrePostModelHooksInConfigKwargs,
    BasePrePostModelHooksInConfigWithCount,
    BasePrePostModelHooksOnSeeds,
    BasePrePostModelHooksOnSeedsPlusPrefixed,
    BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace,
    BasePrePostModelHooksOnSnapshots,
    BasePrePostSnapshotHooksInConfigKwargs,
)
from dbt.tests.adapter.hooks.test_run_hooks import BaseAfterRunHooks, BasePrePostRunHooks

from tests.dbt.adapter_suite.in_views import InStrictViews
from tests.dbt.adapter_suite.spark_sql import spark_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def test_data_dir(tmp_path_factory):
    """The tables that hooks write to, with Spark's types."""
    ours = tmp_path_factory.mktemp("data")
    for file in Path(test_model_hooks.__file__).with_name("data").glob("*.sql"):
        ours.joinpath(file.name).write_text(spark_sql(file.read_text()))
    return ours


def checked_hooks(project, table, state):
    """The rows that the hooks of a state wrote, with the values that they read in this profile."""
    columns = (
        "target_name target_schema target_type target_threads run_started_at invocation_id thread_id".split()
    )
    rows = project.run_sql(
        f"select {', '.join(columns)} from {project.test_schema}.{table} where test_state = '{state}'",
        fetch="all",
    )
    for *target, started_at, invocation, thread in rows:
        assert target == ["default", project.test_schema, "sparkivm", 4]
        assert started_at
        assert invocation
        assert thread.startswith("Thread-") or thread == "MainThread"
    return rows


class OfModels:
    def check_hooks(self, state, project, host, count=1):
        assert len(checked_hooks(project, "on_model_hook", state)) == count


class OfModelsInViews(OfModels, InStrictViews): ...


class TestModelHooks(OfModels, BasePrePostModelHooks): ...


class TestModelHooksInViews(OfModelsInViews, BasePrePostModelHooks): ...


class TestModelHooksUnderscores(OfModelsInViews, test_model_hooks.TestPrePostModelHooksUnderscores): ...


class TestHookRefs(OfModels, BaseHookRefs): ...


class TestHookRefsInViews(OfModelsInViews, BaseHookRefs): ...


class TestModelHooksInConfig(OfModelsInViews, BasePrePostModelHooksInConfig): ...


class TestModelHooksInConfigWithCount(OfModelsInViews, BasePrePostModelHooksInConfigWithCount): ...


class TestModelHooksInConfigKwargs(OfModelsInViews, BasePrePostModelHooksInConfigKwargs): ...


class TestDuplicateHooksInConfigs(InStrictViews, BaseDuplicateHooksInConfigs): ...


class TestHooksOnSeeds(BasePrePostModelHooksOnSeeds): ...


class TestHooksRefsOnSeeds(BaseHooksRefsOnSeeds): ...


class TestHooksOnSeedsPlusPrefixed(BasePrePostModelHooksOnSeedsPlusPrefixed): ...


class TestHooksOnSeedsPlusPrefixedWhitespace(BasePrePostModelHooksOnSeedsPlusPrefixedWhitespace): ...


class TestHooksOnSnapshots(BasePrePostModelHooksOnSnapshots): ...


class TestSnapshotHooksInConfigKwargs(BasePrePostSnapshotHooksInConfigKwargs): ...


class TestRunHooks(InStrictViews, BasePrePostRunHooks):
    def check_hooks(self, state, project, host):
        assert len(checked_hooks(project, "on_run_hook", state)) == 1

    def assert_used_schemas(self, project):
        """dbt-spark has no databases."""
        for table, expected in (
            ("schemas", [project.test_schema]),
            ("db_schemas", ["None", project.test_schema]),
        ):
            rows = project.run_sql(f"select * from {project.test_schema}.{table}", fetch="all")
            assert [list(row) for row in rows] == [expected]


class TestAfterRunHooks(InStrictViews, BaseAfterRunHooks): ...
