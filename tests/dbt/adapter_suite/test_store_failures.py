"""Failures that tests store, and tests of incremental views."""

import pytest
from dbt.tests.adapter.store_test_failures_tests import basic
from dbt.tests.adapter.store_test_failures_tests.test_store_test_failures import (
    BaseStoreTestFailures,
    BaseStoreTestFailuresLimit,
)

from tests.dbt.adapter_suite.in_views import InStrictViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class TestStoreFailures(BaseStoreTestFailures): ...


class TestStoreFailuresInViews(InStrictViews, BaseStoreTestFailures): ...


class TestStoreFailuresLimit(BaseStoreTestFailuresLimit): ...


class TestInteractions(InStrictViews, basic.StoreTestFailuresAsInteractions): ...


class TestProjectLevelOff(InStrictViews, basic.StoreTestFailuresAsProjectLevelOff): ...


class TestProjectLevelView(InStrictViews, basic.StoreTestFailuresAsProjectLevelView): ...


class TestProjectLevelEphemeral(InStrictViews, basic.StoreTestFailuresAsProjectLevelEphemeral): ...


class TestGeneric(InStrictViews, basic.StoreTestFailuresAsGeneric): ...


class TestExceptions(InStrictViews, basic.StoreTestFailuresAsExceptions): ...
