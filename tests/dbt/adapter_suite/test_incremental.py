"""dbt-spark's incremental models, beside which views stand."""

import re

import pytest
from dbt.artifacts.schemas.results import RunStatus
from dbt.tests.adapter.incremental import test_incremental_microbatch, test_incremental_predicates
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import BaseMergeExcludeColumns
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import BaseIncrementalOnSchemaChange
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.util import run_dbt

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class TestMergeExcludeColumns(BaseMergeExcludeColumns): ...


class TestMicrobatch(BaseMicrobatch):
    """dbt-spark replaces the partitions of a batch, so the model has a column for them."""

    @pytest.fixture(scope="class")
    def microbatch_model_sql(self):
        model = test_incremental_microbatch._microbatch_model_sql
        return model.replace("select *", "select *, cast(event_time as date) as date_day").replace(
            "unique_key='id'", "partition_by='date_day', file_format='parquet'"
        )


class TestOnSchemaChange(BaseIncrementalOnSchemaChange):
    """A Delta table does not lose a column, unless its columns are mapped."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+incremental_strategy": "merge", "+unique_key": "id"}}

    def run_twice_and_assert(self, include, compare_source, compare_target, project):
        if compare_source in REMOVES_COLUMNS:
            run_dbt(["run", "--select", include, "--full-refresh"])
            results = run_dbt(["run", "--select", include], expect_pass=False)
            assert REFUSED.search(results[1].message)
        else:
            super().run_twice_and_assert(include, compare_source, compare_target, project)


REMOVES_COLUMNS = (
    "incremental_append_new_columns_remove_one",
    "incremental_sync_all_columns",
    "incremental_sync_remove_only",
)
REFUSED = re.compile("Compilation Error|DELTA_MERGE_UNRESOLVED_EXPRESSION")


class TestPredicates(test_incremental_predicates.BaseIncrementalPredicates):
    """dbt-spark has no `delete+insert`; in a MERGE the columns of the target have a prefix."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "models": {
                "+incremental_predicates": ["dbt_internal_dest.id != 2"],
                "+incremental_strategy": "merge",
            }
        }


class TestPredicatesByTheirOtherName(test_incremental_predicates.TestPredicatesDeleteInsert):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+predicates": ["dbt_internal_dest.id != 2"], "+incremental_strategy": "merge"}}


class TestUniqueKey(BaseIncrementalUniqueKey):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+incremental_strategy": "merge"}}

    def test__bad_unique_key(self, project):
        self.assert_refused("not_found_unique_key")

    def test__bad_unique_key_list(self, project):
        self.assert_refused("not_found_unique_key_list")

    def assert_refused(self, model):
        """The class looks for the name of the column, which is not in Delta's message."""
        status, message = self.fail_to_build_inc_missing_unique_key_column(model)
        assert status == RunStatus.Error
        assert "DELTA_MERGE_UNRESOLVED_EXPRESSION" in message
