"""`dbt docs generate`."""

from unittest.mock import ANY

import pytest
from dbt.tests.adapter.basic import test_docs_generate
from dbt.tests.adapter.basic.expected_catalog import base_expected_catalog, expected_references_catalog
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.util import AnyInteger

from tests.dbt.adapter_suite.in_views import InStrictViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class WholeNumber:
    """dbt-spark's catalog reads the types of tables and of views in two ways."""

    def __eq__(self, other):
        return other in ("bigint", "long")


TYPES = {
    "role": ANY,  # the owner; the catalog of this Spark has none for views
    "id_type": WholeNumber(),
    "text_type": "string",
    "time_type": "timestamp",
    "view_type": "view",
    "table_type": "table",
    "model_stats": test_docs_generate.expected_catalog.no_stats(),
}


class Generate:
    @pytest.fixture(scope="class")
    def expected_catalog(self, project):
        return base_expected_catalog(project, **TYPES)


class TestGenerate(Generate, BaseDocsGenerate): ...


class TestGenerateInViews(Generate, InStrictViews, BaseDocsGenerate): ...


class References:
    summary_type = "table"

    @pytest.fixture(scope="class")
    def expected_catalog(self, project):
        """dbt-spark counts columns from 0."""
        catalog = expected_references_catalog(project, bigint_type=WholeNumber(), **TYPES)
        for node in (*catalog["nodes"].values(), *catalog["sources"].values()):
            for column in node["columns"].values():
                column["index"] = AnyInteger()
        catalog["nodes"]["model.test.ephemeral_summary"]["metadata"]["type"] = self.summary_type
        return catalog


class TestReferences(References, BaseDocsGenReferences): ...


class TestReferencesInViews(References, InStrictViews, BaseDocsGenReferences):
    summary_type = "view"
