"""Snapshots. Views over them are tested in tests/dbt/test_seeds.py."""

import pytest
from dbt.tests.adapter.simple_snapshot import (
    fixtures,
    test_ephemeral_snapshot_hard_deletes,
    test_various_configs,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck

from tests.dbt.adapter_suite.spark_sql import constants_in_spark_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module", autouse=True)
def words_of_spark():
    with constants_in_spark_sql(
        fixtures,
        test_ephemeral_snapshot_hard_deletes,
        test_various_configs,
    ):
        yield


class TestSnapshot(BaseSimpleSnapshot):
    """A Delta table allows no default for a column that is added to it."""

    def add_fact_column(self, column=None, definition=None):
        super().add_fact_column(column, definition.removesuffix(" default null"))


class TestSnapshotCheck(BaseSnapshotCheck): ...


class TestColumnNames(test_various_configs.BaseSnapshotColumnNames): ...


class TestColumnNamesFromProject(test_various_configs.BaseSnapshotColumnNamesFromDbtProject): ...


class TestInvalidColumnNames(test_various_configs.BaseSnapshotInvalidColumnNames):
    @pytest.fixture(scope="class")
    def models(self):
        """The test replaces the configuration of snapshots in dbt_project.yml, which has the format too."""
        properties = fixtures.snapshots_no_column_names_yml
        return {"snapshots.yml": properties.replace("config:", "config:\n      file_format: delta")}


class TestValidToCurrent(test_various_configs.BaseSnapshotDbtValidToCurrent):
    @pytest.fixture(autouse=True)
    def rows_in_order(self, monkeypatch):
        """The class reads rows without ORDER BY and expects the order in which they were inserted."""
        read = test_various_configs.run_sql_with_adapter

        def ordered(adapter, sql, fetch):
            rows = read(adapter, sql, fetch)
            updated = {id_ for id_, _, valid_to in rows if valid_to.year < 2099}
            return sorted(rows, key=lambda row: (row[2].year == 2099 and row[0] in updated, row[0]))

        monkeypatch.setattr(test_various_configs, "run_sql_with_adapter", ordered)


class WithoutDefault:
    """A Delta table allows no default for a column that is added to it."""

    @pytest.fixture(scope="class")
    def source_alter_sql(self):
        return "alter table {schema}.src_customers add column dummy_column varchar(50)"


class TestEphemeralHardDeletes(
    WithoutDefault, test_ephemeral_snapshot_hard_deletes.BaseSnapshotEphemeralHardDeletes
): ...


class TestNewColumnTimestampStrategy(
    WithoutDefault, test_ephemeral_snapshot_hard_deletes.BaseSnapshotNewColumnTimestampStrategy
): ...


class TestNewColumnSpecificCheckCols(
    WithoutDefault, test_ephemeral_snapshot_hard_deletes.BaseSnapshotNewColumnSpecificCheckCols
): ...


class TestNewColumnWithDeletes(
    WithoutDefault, test_ephemeral_snapshot_hard_deletes.BaseSnapshotNewColumnWithDeletes
): ...
