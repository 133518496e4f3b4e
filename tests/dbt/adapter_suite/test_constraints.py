"""Contracts and constraints."""

import re

import pytest
from dbt.tests.adapter.constraints import fixtures
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseIncrementalContractSqlHeader,
    BaseIncrementalForeignKeyConstraint,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseTableContractSqlHeader,
    BaseViewConstraintsColumnsEqual,
)

from tests.dbt.adapter_suite.in_views import InStrictViews, InViews, materialized_as_view
from tests.dbt.adapter_suite.spark_sql import constants_in_spark_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module", autouse=True)
def words_of_spark():
    """Without NOT NULL, which Delta adds to an existing column on Databricks only. UNIQUE makes no statement."""
    with constants_in_spark_sql(fixtures), pytest.MonkeyPatch.context() as patch:
        for name in (name for name in dir(fixtures) if name.endswith("_yml")):
            patch.setattr(fixtures, name, getattr(fixtures, name).replace("type: not_null", "type: unique"))
        yield


class SparkTypes:
    @pytest.fixture
    def string_type(self):
        return "string"

    @pytest.fixture
    def int_type(self):
        return "int"

    @pytest.fixture
    def data_types(self):
        """An expression, its type in a contract, its type in an error."""
        return [
            ["1", "int", "int"],
            ["'1'", "string", "string"],
            ["true", "boolean", "boolean"],
            ["array('1', '2', '3')", "array<string>", "array<string>"],
            ["array(1, 2, 3)", "array<int>", "array<int>"],
            ["cast('2019-01-01' as date)", "date", "date"],
            ["cast('2019-01-01' as timestamp)", "timestamp", "timestamp"],
            ["cast(1.0 as decimal(4, 2))", "decimal(4,2)", "decimal(4,2)"],
        ]


class SparkTypesInViews(SparkTypes, InViews):
    @pytest.fixture(scope="class", autouse=True)
    def models_that_the_tests_write(self):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                fixtures, "my_model_data_type_sql", materialized_as_view(fixtures.my_model_data_type_sql)
            )
            yield


class TestTableColumnsEqual(SparkTypes, BaseTableConstraintsColumnsEqual): ...


class TestViewColumnsEqual(SparkTypes, BaseViewConstraintsColumnsEqual): ...


class TestIncrementalColumnsEqual(SparkTypes, BaseIncrementalConstraintsColumnsEqual): ...


class TestColumnsEqualInViews(SparkTypesInViews, BaseTableConstraintsColumnsEqual): ...


CREATED = """
create or replace table <model_identifier>
    using delta
    as
select id, {color}, date_day
from
({depends_on}
    select 'blue' as {color}, 1 as id, '2019-01-01' as date_day ) as model_subq
"""


class AddedAfterwards:
    """dbt-spark adds the constraints by statements of their own, after the table is created."""

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return CREATED.format(color="color", depends_on="-- depends_on: <foreign_key_model_identifier>")


class TestDdl(AddedAfterwards, BaseConstraintsRuntimeDdlEnforcement): ...


class TestIncrementalDdl(AddedAfterwards, BaseIncrementalConstraintsRuntimeDdlEnforcement): ...


class TestModelDdl(AddedAfterwards, BaseModelConstraintsRuntimeEnforcement): ...


class TestQuotedColumnDdl(BaseConstraintQuotedColumn):
    @pytest.fixture(scope="class")
    def models(self):
        """Spark quotes names with backticks."""
        return {
            "my_model.sql": fixtures.my_model_with_quoted_column_name_sql,
            "constraints_schema.yml": fixtures.model_quoted_column_schema_yml.replace('"from"', "`from`"),
        }

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return CREATED.format(color="`from`", depends_on="")


class CheckOfModel:
    """dbt-spark adds the CHECKs of a model, not those of a column. A NULL does not violate one; 0 does."""

    model, violating = "my_model_sql", "my_model_with_nulls_sql"

    @pytest.fixture(scope="class")
    def models(self):
        named = "  - name: my_model\n"
        with_check = f"{named}    constraints: [{{type: check, expression: id > 0}}]\n"
        return {
            "my_model.sql": getattr(fixtures, self.model),
            "constraints_schema.yml": fixtures.model_schema_yml.replace(named, with_check),
        }

    @pytest.fixture(scope="class")
    def null_model_sql(self):
        return re.sub(r"cast\(null as .*\) as id", "0 as id", getattr(fixtures, self.violating))

    @pytest.fixture(scope="class")
    def expected_error_messages(self):
        return ["DELTA_NEW_CHECK_CONSTRAINT_VIOLATION", "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"]

    def assert_expected_error_messages(self, error_message, expected_error_messages):
        assert any(message in error_message for message in expected_error_messages)


class TestRollback(CheckOfModel, BaseConstraintsRollback):
    @pytest.fixture(scope="class")
    def expected_color(self):
        """dbt-spark adds the constraints when the rows are already there, and nothing takes them back."""
        return "red"


class TestIncrementalRollback(CheckOfModel, BaseIncrementalConstraintsRollback):
    model, violating = "my_incremental_model_sql", "my_model_incremental_with_nulls_sql"


@pytest.mark.xfail(reason="constraints are not added to the state (docs/known_gaps.md)")
class TestRollbackInViews(CheckOfModel, InViews, BaseConstraintsRollback):
    @pytest.fixture(scope="class")
    def null_model_sql(self):
        zero = re.sub(r"cast\(null as .*\) as id", "0 as id", fixtures.my_model_with_nulls_sql)
        return materialized_as_view(zero)


class HeaderOfSpark:
    """Spark has no `current_setting`. What depends on the session has no incremental rule."""

    @pytest.fixture(scope="class")
    def models(self):
        model = fixtures.my_model_contract_sql_header_sql
        return {
            "my_model_contract_sql_header.sql": model.replace(
                "set session time zone", "set time zone"
            ).replace("current_setting('timezone')", "current_timezone()"),
            "constraints_schema.yml": fixtures.model_contract_header_schema_yml,
        }


class TestContractSqlHeaderInViews(HeaderOfSpark, InViews, BaseTableContractSqlHeader): ...


class TestIncrementalContractSqlHeaderInViews(HeaderOfSpark, InViews, BaseIncrementalContractSqlHeader): ...


class TestIncrementalForeignKey(BaseIncrementalForeignKeyConstraint): ...


class TestForeignKeyInViews(InStrictViews, BaseIncrementalForeignKeyConstraint): ...
