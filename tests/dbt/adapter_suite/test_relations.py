"""Names, the cache of relations, and a model that is something else than before."""

import pytest
from dbt.tests.adapter.aliases import fixtures as aliases
from dbt.tests.adapter.aliases.test_aliases import (
    BaseAliasErrors,
    BaseAliases,
    BaseSameAliasDifferentDatabases,
    BaseSameAliasDifferentSchemas,
)
from dbt.tests.adapter.caching.test_caching import (
    BaseCachingLowercaseModel,
    BaseCachingSelectedSchemaOnly,
    BaseCachingUppercaseModel,
    BaseNoPopulateCache,
)
from dbt.tests.adapter.catalog import files
from dbt.tests.adapter.catalog.relation_types import CatalogRelationTypes
from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency
from dbt.tests.adapter.relations.test_changing_relation_type import BaseChangeRelationTypeValidator
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed
from dbt.tests.util import check_relation_types, run_dbt

from tests.dbt.adapter_suite.in_views import InStrictViews, InViews
from tests.dbt.adapter_suite.spark_sql import constants_in_spark_sql

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module", autouse=True)
def words_of_spark():
    with constants_in_spark_sql(aliases):
        yield


class TestAliases(BaseAliases): ...


class TestAliasesInViews(InStrictViews, BaseAliases): ...


class TestAliasErrors(BaseAliasErrors): ...


class TestAliasErrorsInViews(InStrictViews, BaseAliasErrors): ...


class TestSameAliasDifferentSchemas(BaseSameAliasDifferentSchemas): ...


class TestSameAliasDifferentSchemasInViews(InStrictViews, BaseSameAliasDifferentSchemas): ...


class TestSameAliasDifferentDatabasesInViews(InStrictViews, BaseSameAliasDifferentDatabases):
    """dbt-spark has no databases; the class uses two schemas."""


class Cached:
    """dbt-spark has no databases, which the class compares."""

    cached = ("model",)

    def run_and_inspect_cache(self, project, run_args=None):
        for _ in range(2):
            run_dbt(run_args)
            cached = {(r.schema, r.identifier.lower()) for r in project.adapter.cache.relations}
            assert cached == {(project.test_schema, name) for name in self.cached}


class CachedInViews(InStrictViews, Cached):
    """A view is two relations, the public view and its state."""

    cached = ("model", "model__ivm")


class TestCachingLowercaseModel(Cached, BaseCachingLowercaseModel): ...


class TestCachingLowercaseModelInViews(CachedInViews, BaseCachingLowercaseModel): ...


class TestCachingUppercaseModel(Cached, BaseCachingUppercaseModel): ...


class TestCachingUppercaseModelInViews(CachedInViews, BaseCachingUppercaseModel): ...


class TestCachingSelectedSchemaOnly(Cached, BaseCachingSelectedSchemaOnly): ...


class TestCachingSelectedSchemaOnlyInViews(CachedInViews, BaseCachingSelectedSchemaOnly): ...


class TestNoPopulateCache(Cached, BaseNoPopulateCache): ...


class TestNoPopulateCacheInViews(CachedInViews, BaseNoPopulateCache): ...


class TestCatalogRelationTypes(CatalogRelationTypes):
    """In dbt-spark's catalog, the type is in lower case; an incremental view is a view to its readers."""

    @pytest.fixture(scope="class", autouse=True)
    def models(self):
        return {
            "my_table.sql": files.MY_TABLE,
            "my_view.sql": files.MY_VIEW,
            "my_incremental_view.sql": files.MY_MATERIALIZED_VIEW.replace(
                "materialized_view", "incremental_view"
            ),
        }

    @pytest.mark.parametrize(
        ("node_name", "relation_type"),
        [
            ("seed.test.my_seed", "table"),
            ("model.test.my_table", "table"),
            ("model.test.my_view", "view"),
            ("model.test.my_incremental_view", "view"),
        ],
    )
    def test_relation_types_populate_correctly(self, docs, node_name, relation_type):
        super().test_relation_types_populate_correctly(docs, node_name, relation_type)


class TestConcurrency(BaseConcurrency): ...


class TestConcurrencyInViews(InStrictViews, BaseConcurrency): ...


class TestChangeRelationType(BaseChangeRelationTypeValidator): ...


class TestChangeRelationTypeToView(BaseChangeRelationTypeValidator):
    def test_changing_materialization_changes_relation_type(self, project):
        for materialization, relation_type in [
            ("incremental_view", "view"),
            ("view", "view"),
            ("incremental_view", "view"),
            ("table", "table"),
            ("incremental_view", "view"),
            ("incremental", "table"),
            ("incremental_view", "view"),
        ]:
            self._run_and_check_materialization(materialization)
            check_relation_types(project.adapter, {"model_mc_modelface": relation_type})


class TestDropSchemaNamed(BaseDropSchemaNamed): ...


class TestDropSchemaNamedInViews(InViews, BaseDropSchemaNamed): ...
