"""Unit tests of models that are incremental views, over incremental views."""

import pytest
from dbt.tests.adapter.unit_testing import test_quoted_reserved_word_column_names as reserved_words
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.unit_testing.test_types import (
    BaseUnitTestingTypes,
    BaseUnitTestingVarcharFixtureNoTruncation,
)

from tests.dbt.adapter_suite.in_views import InStrictViews, InViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class TestTypes(InViews, BaseUnitTestingTypes):
    """The same values as dbt-spark's own tests."""

    @pytest.fixture
    def data_types(self):
        return [
            ["1", "1"],
            ["2.0", "2.0"],
            ["'12345'", "12345"],
            ["'string'", "string"],
            ["true", "true"],
            ["date '2011-11-11'", "2011-11-11"],
            ["timestamp '2013-11-03 00:00:00-0'", "2013-11-03 00:00:00-0"],
            ["array(1, 2, 3)", "'array(1, 2, 3)'"],
            ["map('10', 't', '15', null)", """'map("10", "t", "15", null)'"""],
            ["named_struct('a', 1, 'b', 2)", """'named_struct("a", 1, "b", 2)'"""],
        ]


class TestVarcharFixtureNoTruncation(InStrictViews, BaseUnitTestingVarcharFixtureNoTruncation): ...


class TestCaseInsensitivity(InStrictViews, BaseUnitTestCaseInsensivity): ...


class TestInvalidInput(InStrictViews, BaseUnitTestInvalidInput): ...


class TestReservedWords(InStrictViews, reserved_words.BaseUnitTestQuotedReservedWordColumnNames):
    """Spark quotes names with backticks."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model.sql": reserved_words.my_model_sql,
            "my_upstream_model.sql": "select 1 as `GROUP`",
            "unit_tests.yml": reserved_words.test_my_model_csv_fixtures_yml,
        }
