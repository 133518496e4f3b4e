"""Descriptions that become comments.

The classes look for comments in dbt's catalog. dbt-spark's catalog has none, so these tests ask Spark.
"""

import pytest
from dbt.tests.adapter.persist_docs.test_persist_docs import (
    BasePersistDocs,
    BasePersistDocsAllColumnsMissing,
    BasePersistDocsColumnMissing,
    BasePersistDocsCommentOnQuotedColumn,
    BasePersistDocsQuotedColumnCaseSensitive,
    BasePersistDocsQuotedDescriptionNotAppliedOnMismatch,
)
from dbt.tests.util import run_dbt

from tests.dbt.adapter_suite.in_views import InStrictViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


def catalog_node(project, name):
    """What the classes read of a node in the catalog: the comments of a relation and of its columns."""
    rows = project.run_sql(f"describe table extended {project.test_schema}.{name}", fetch="all")
    blank = next(i for i, row in enumerate(rows) if not row[0])
    of_relation = {row[0]: row[1] for row in rows[blank:]}
    return {
        "metadata": {"comment": of_relation.get("Comment") or None},
        "columns": {row[0]: {"comment": row[2] or None} for row in rows[:blank]},
    }


class CommentsInSpark:
    def test_has_comments_pglike(self, project):
        self._assert_has_table_comments(catalog_node(project, "table_model"))
        self._assert_has_view_comments(catalog_node(project, "view_model"))
        self._assert_has_view_comments(catalog_node(project, "no_docs_model"), False, False)


class TestPersistDocs(CommentsInSpark, BasePersistDocs): ...


class TestPersistDocsInViews(CommentsInSpark, InStrictViews, BasePersistDocs): ...


class ColumnMissing:
    def test_missing_column(self, project):
        comment = catalog_node(project, "missing_column")["columns"]["id"]["comment"]
        assert comment.startswith("test id column description")


class TestColumnMissing(ColumnMissing, BasePersistDocsColumnMissing): ...


class TestColumnMissingInViews(ColumnMissing, InStrictViews, BasePersistDocsColumnMissing): ...


class TestAllColumnsMissing(BasePersistDocsAllColumnsMissing): ...


class TestAllColumnsMissingInViews(InStrictViews, BasePersistDocsAllColumnsMissing): ...


class TestQuotedColumnCaseSensitive(BasePersistDocsQuotedColumnCaseSensitive): ...


class TestQuotedColumnCaseSensitiveInViews(InStrictViews, BasePersistDocsQuotedColumnCaseSensitive): ...


class TestQuotedDescriptionOnMismatch(BasePersistDocsQuotedDescriptionNotAppliedOnMismatch): ...


class TestQuotedDescriptionOnMismatchInViews(
    InStrictViews, BasePersistDocsQuotedDescriptionNotAppliedOnMismatch
): ...


class CommentOnQuotedColumn:
    @pytest.fixture(scope="class")
    def run_has_comments(self, project):
        def check():
            run_dbt()
            assert catalog_node(project, "quote_model")["columns"]["2id"]["comment"].startswith("XXX")

        return check


class TestCommentOnQuotedColumn(CommentOnQuotedColumn, BasePersistDocsCommentOnQuotedColumn): ...


class TestCommentOnQuotedColumnInViews(
    CommentOnQuotedColumn, InStrictViews, BasePersistDocsCommentOnQuotedColumn
): ...
