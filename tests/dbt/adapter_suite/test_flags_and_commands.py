"""`--empty`, `--sample`, `dbt show`, `dbt debug` and `dbt clone`."""

import pytest
from dbt.tests.adapter.dbt_clone import test_dbt_clone
from dbt.tests.adapter.dbt_clone.test_dbt_clone import (
    BaseClonePossible,
    BaseCloneSameSourceAndTarget,
    BaseCloneSameTargetAndState,
)
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebugInvalidProjectPostgres, BaseDebugPostgres
from dbt.tests.adapter.dbt_show.test_dbt_show import (
    BaseShowDoesNotHandleDoubleLimit,
    BaseShowLimit,
    BaseShowSqlHeader,
)
from dbt.tests.adapter.empty.test_empty import (
    BaseTestEmpty,
    BaseTestEmptyInlineSourceRef,
    BaseTestEmptySeedFlag,
    MetadataWithEmptyFlag,
)
from dbt.tests.adapter.sample_mode.test_sample_mode import BaseSampleModeTest
from dbt.tests.util import run_dbt

from tests.dbt.adapter_suite.in_views import InStrictViews, InViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


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


class TestEmptySeedFlag(BaseTestEmptySeedFlag): ...


class TestEmptySeedFlagInViews(InStrictViews, BaseTestEmptySeedFlag): ...


class TestMetadataWithEmptyFlag(MetadataWithEmptyFlag): ...


class TestMetadataWithEmptyFlagInViews(InStrictViews, MetadataWithEmptyFlag): ...


class TestSampleMode(BaseSampleModeTest): ...


class TestSampleModeInViews(InViews, BaseSampleModeTest): ...


class TestShowLimitInViews(InStrictViews, BaseShowLimit): ...


class TestShowSqlHeader(BaseShowSqlHeader): ...


class TestShowSqlHeaderInViews(InViews, BaseShowSqlHeader): ...


class TestShowDoubleLimit(BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "Syntax error at or near 'limit'"


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


class TestClonePossible(CleanedUp, BaseClonePossible): ...


class TestCloneNotPossible(test_dbt_clone.TestPostgresCloneNotPossible): ...


class TestCloneSameSourceAndTarget(CleanedUp, BaseCloneSameSourceAndTarget): ...


class TestCloneSameTargetAndState(CleanedUp, BaseCloneSameTargetAndState): ...
