"""One seed copied by models of each materialization."""

import pytest
from dbt.tests.adapter.simple_copy.test_copy_uppercase import BaseSimpleCopyUppercase
from dbt.tests.adapter.simple_copy.test_simple_copy import EmptyModelsArentRunBase, SimpleCopyBase
from dbt.tests.util import get_connection

from tests.dbt.adapter_suite.conftest import profile
from tests.dbt.adapter_suite.in_views import InStrictViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class WithoutMaterializedViews:
    test_simple_copy_with_materialized_views = None  # in NOT_RUN


class TestSimpleCopy(WithoutMaterializedViews, SimpleCopyBase): ...


class TestSimpleCopyInViews(WithoutMaterializedViews, InStrictViews, SimpleCopyBase): ...


class Uppercase:
    """The class has a profile of its own."""

    @pytest.fixture(scope="class")
    def dbt_profile_target(self, spark):
        return profile()


class TestUppercase(Uppercase, BaseSimpleCopyUppercase): ...


class TestUppercaseInViews(Uppercase, InStrictViews, BaseSimpleCopyUppercase): ...


class TestEmptyModelsInViews(InStrictViews, EmptyModelsArentRunBase):
    @pytest.fixture(scope="class")
    def project(self, project):
        """Spark has no information_schema."""

        def tables():
            with get_connection(project.adapter):
                schema = project.adapter.Relation.create(schema=project.test_schema).without_identifier()
                return {r.identifier: r.type for r in project.adapter.list_relations_without_caching(schema)}

        project.get_tables_in_schema = tables
        return project
