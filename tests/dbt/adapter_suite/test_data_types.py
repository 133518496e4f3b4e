"""The macros of dbt for types, in incremental views."""

import pytest
from dbt.tests.adapter.utils.data_types import test_type_float, test_type_int
from dbt.tests.adapter.utils.data_types.test_type_bigint import BaseTypeBigInt
from dbt.tests.adapter.utils.data_types.test_type_boolean import BaseTypeBoolean
from dbt.tests.adapter.utils.data_types.test_type_numeric import BaseTypeNumeric
from dbt.tests.adapter.utils.data_types.test_type_string import BaseTypeString
from dbt.tests.adapter.utils.data_types.test_type_timestamp import BaseTypeTimestamp

from tests.dbt.adapter_suite.in_views import InStrictViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


def type_of_seed(column: str, name: str) -> str:
    """Properties of the seed `expected`; dbt-spark would take the widest type."""
    return f"seeds: [{{name: expected, config: {{column_types: {{{column}: {name}}}}}}}]"


class TestTypeBigInt(InStrictViews, BaseTypeBigInt): ...


class TestTypeBoolean(InStrictViews, BaseTypeBoolean): ...


class TestTypeFloat(InStrictViews, test_type_float.BaseTypeFloat):
    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "expected.csv": test_type_float.seeds__expected_csv,
            "expected.yml": type_of_seed("float_col", "float"),
        }


class TestTypeInt(InStrictViews, test_type_int.BaseTypeInt):
    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "expected.csv": test_type_int.seeds__expected_csv,
            "expected.yml": type_of_seed("int_col", "int"),
        }


class TestTypeNumeric(InStrictViews, BaseTypeNumeric):
    def numeric_fixture_type(self):
        return "decimal(28,6)"


class TestTypeString(InStrictViews, BaseTypeString): ...


class TestTypeTimestamp(InStrictViews, BaseTypeTimestamp): ...
