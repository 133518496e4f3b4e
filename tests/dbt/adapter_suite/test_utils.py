"""The macros of dbt for expressions, in incremental views: `strict` refuses an expression that is unknown."""

import re

import pytest
from dbt.tests.adapter.utils import fixture_get_intervals_between, fixture_listagg
from dbt.tests.adapter.utils.test_any_value import BaseAnyValue
from dbt.tests.adapter.utils.test_array_append import BaseArrayAppend
from dbt.tests.adapter.utils.test_array_concat import BaseArrayConcat
from dbt.tests.adapter.utils.test_array_construct import BaseArrayConstruct
from dbt.tests.adapter.utils.test_bool_or import BaseBoolOr
from dbt.tests.adapter.utils.test_cast import BaseCast
from dbt.tests.adapter.utils.test_cast_bool_to_text import BaseCastBoolToText
from dbt.tests.adapter.utils.test_concat import BaseConcat
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampNaive
from dbt.tests.adapter.utils.test_date import BaseDate
from dbt.tests.adapter.utils.test_date_spine import BaseDateSpine
from dbt.tests.adapter.utils.test_date_trunc import BaseDateTrunc
from dbt.tests.adapter.utils.test_dateadd import BaseDateAdd
from dbt.tests.adapter.utils.test_datediff import BaseDateDiff
from dbt.tests.adapter.utils.test_equals import BaseEquals
from dbt.tests.adapter.utils.test_escape_single_quotes import BaseEscapeSingleQuotesBackslash
from dbt.tests.adapter.utils.test_except import BaseExcept
from dbt.tests.adapter.utils.test_generate_series import BaseGenerateSeries
from dbt.tests.adapter.utils.test_get_intervals_between import BaseGetIntervalsBetween
from dbt.tests.adapter.utils.test_get_powers_of_two import BaseGetPowersOfTwo
from dbt.tests.adapter.utils.test_hash import BaseHash
from dbt.tests.adapter.utils.test_intersect import BaseIntersect
from dbt.tests.adapter.utils.test_last_day import BaseLastDay
from dbt.tests.adapter.utils.test_length import BaseLength
from dbt.tests.adapter.utils.test_listagg import BaseListagg
from dbt.tests.adapter.utils.test_null_compare import BaseMixedNullCompare, BaseNullCompare
from dbt.tests.adapter.utils.test_position import BasePosition
from dbt.tests.adapter.utils.test_replace import BaseReplace
from dbt.tests.adapter.utils.test_right import BaseRight
from dbt.tests.adapter.utils.test_safe_cast import BaseSafeCast
from dbt.tests.adapter.utils.test_source_freshness_custom_info import BaseCalculateFreshnessMethod
from dbt.tests.adapter.utils.test_split_part import BaseSplitPart
from dbt.tests.adapter.utils.test_string_literal import BaseStringLiteral
from dbt.tests.adapter.utils.test_timestamps import BaseCurrentTimestamps
from dbt.tests.adapter.utils.test_validate_sql import BaseValidateSqlMethod

from tests.dbt.adapter_suite.in_views import InStrictViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class TestAnyValue(InStrictViews, BaseAnyValue): ...


class TestArrayAppend(InStrictViews, BaseArrayAppend): ...


class TestArrayConcat(InStrictViews, BaseArrayConcat): ...


class TestArrayConstruct(InStrictViews, BaseArrayConstruct): ...


class TestBoolOr(InStrictViews, BaseBoolOr): ...


class TestCast(InStrictViews, BaseCast): ...


class TestCastBoolToText(InStrictViews, BaseCastBoolToText): ...


class TestConcat(InStrictViews, BaseConcat): ...


class TestCurrentTimestamp(InStrictViews, BaseCurrentTimestampNaive): ...


class TestCurrentTimestamps(InStrictViews, BaseCurrentTimestamps):
    """dbt-spark has one of the three macros; the other two are for packages of PostgreSQL."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"get_current_timestamp.sql": "select {{ current_timestamp() }} as current_timestamp"}

    @pytest.fixture(scope="class")
    def expected_schema(self):
        return {"current_timestamp": "timestamp"}

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return "select current_timestamp() as current_timestamp"


class TestDate(InStrictViews, BaseDate): ...


class TestDateAdd(InStrictViews, BaseDateAdd): ...


class TestDateDiff(InStrictViews, BaseDateDiff): ...


class TestDateSpine(InStrictViews, BaseDateSpine): ...


class TestDateTrunc(InStrictViews, BaseDateTrunc): ...


class TestEquals(InStrictViews, BaseEquals): ...


class TestEscapeSingleQuotes(InStrictViews, BaseEscapeSingleQuotesBackslash): ...


class TestExcept(InStrictViews, BaseExcept): ...


class TestGenerateSeries(InStrictViews, BaseGenerateSeries): ...


class TestGetIntervalsBetween(InStrictViews, BaseGetIntervalsBetween):
    """Spark does not read dates such as 09/01/2023."""

    @pytest.fixture(scope="class")
    def models(self):
        sql = fixture_get_intervals_between.models__test_get_intervals_between_sql
        return {
            "test_get_intervals_between.yml": fixture_get_intervals_between.models__test_get_intervals_between_yml,
            "test_get_intervals_between.sql": re.sub(r"(\d\d)/(\d\d)/(\d{4})", r"\3-\1-\2", sql),
        }


class TestGetPowersOfTwo(InStrictViews, BaseGetPowersOfTwo): ...


class TestHash(InStrictViews, BaseHash): ...


class TestIntersect(InStrictViews, BaseIntersect): ...


class TestLastDay(InStrictViews, BaseLastDay): ...


class TestLength(InStrictViews, BaseLength): ...


class TestListagg(InStrictViews, BaseListagg):
    """dbt-spark's macro ignores the order, so the branches that ask for one are left out."""

    @pytest.fixture(scope="class")
    def models(self):
        before, calculate = fixture_listagg.models__test_listagg_sql.split("calculate as (")
        unordered = "union all".join(calculate.split("union all")[2:])
        return {
            "test_listagg.yml": fixture_listagg.models__test_listagg_yml,
            "test_listagg.sql": f"{before}calculate as ({unordered}",
        }


class TestMixedNullCompare(InStrictViews, BaseMixedNullCompare): ...


class TestNullCompare(BaseNullCompare):
    """Not in views: all columns of the model are `null`, and Delta stores no table without a type."""


class TestPosition(InStrictViews, BasePosition): ...


class TestReplace(InStrictViews, BaseReplace): ...


class TestRight(InStrictViews, BaseRight): ...


class TestSafeCast(InStrictViews, BaseSafeCast): ...


class TestSplitPart(InStrictViews, BaseSplitPart): ...


class TestStringLiteral(InStrictViews, BaseStringLiteral): ...


class TestCalculateFreshness(BaseCalculateFreshnessMethod): ...


class TestValidateSql(BaseValidateSqlMethod): ...
