"""Comments that dbt puts before each statement, those of a refresh too."""

import pytest
from dbt.tests.adapter.query_comment.test_query_comment import (
    BaseEmptyQueryComments,
    BaseMacroArgsQueryComments,
    BaseMacroInvalidQueryComments,
    BaseMacroQueryComments,
    BaseNullQueryComments,
    BaseQueryComments,
)

from tests.dbt.adapter_suite.in_views import InStrictViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class TestQueryComments(InStrictViews, BaseQueryComments): ...


class TestMacroQueryComments(InStrictViews, BaseMacroQueryComments): ...


class TestMacroArgsQueryComments(InStrictViews, BaseMacroArgsQueryComments): ...


class TestMacroInvalidQueryComments(InStrictViews, BaseMacroInvalidQueryComments): ...


class TestNullQueryComments(InStrictViews, BaseNullQueryComments): ...


class TestEmptyQueryComments(InStrictViews, BaseEmptyQueryComments): ...
