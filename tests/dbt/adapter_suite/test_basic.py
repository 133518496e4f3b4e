"""Models, tests, incremental models and snapshots as dbt has them, and the same projects with incremental views."""

import pytest
from dbt.tests.adapter.basic import test_base
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_incremental import (
    BaseIncremental,
    BaseIncrementalBadStrategy,
    BaseIncrementalNotSchemaChange,
)
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_snapshot_check_cols import BaseSnapshotCheckCols
from dbt.tests.adapter.basic.test_snapshot_timestamp import BaseSnapshotTimestamp
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.util import run_dbt

from tests.dbt.adapter_suite.in_views import InStrictViews, InViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class TestSimpleMaterializationsInViews(InStrictViews, test_base.BaseSimpleMaterializations):
    """The model `swappable` is a table, a plain view and an incremental model beside two incremental views."""

    @pytest.fixture(autouse=True)
    def a_view_is_not_a_table(self, monkeypatch):
        check = test_base.check_relation_types
        monkeypatch.setattr(
            test_base,
            "check_relation_types",
            lambda adapter, expected: check(adapter, {**expected, "table_model": "view"}),
        )


class TestEphemeral(BaseEphemeral): ...


class TestEphemeralInViews(InStrictViews, BaseEphemeral): ...


class TestGenericTests(BaseGenericTests): ...


class TestGenericTestsInViews(InStrictViews, BaseGenericTests): ...


class TestIncremental(BaseIncremental): ...


class TestIncrementalInViews(InViews, BaseIncremental):
    """The view reads another seed in the second run."""


class TestIncrementalBadStrategy(BaseIncrementalBadStrategy):
    def test_incremental_invalid_strategy(self, project):
        """The class expects another message than dbt-spark's."""
        run_dbt(["seed"])
        results = run_dbt(["run"], expect_pass=False)
        assert "Invalid incremental strategy provided: bad_strategy" in results[0].message


class TestIncrementalNotSchemaChange(BaseIncrementalNotSchemaChange): ...


class TestIncrementalNotSchemaChangeInViews(InStrictViews, BaseIncrementalNotSchemaChange): ...


class TestSingularTests(BaseSingularTests): ...


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral): ...


class TestSingularTestsEphemeralInViews(InStrictViews, BaseSingularTestsEphemeral): ...


class TestSnapshotCheckCols(BaseSnapshotCheckCols): ...


class TestSnapshotTimestamp(BaseSnapshotTimestamp): ...


class TestTableMaterialization(BaseTableMaterialization): ...


class TestTableMaterializationInViews(InStrictViews, BaseTableMaterialization): ...


class TestValidateConnection(BaseValidateConnection): ...
