"""Models that read ephemeral models, which dbt writes into their texts."""

import pytest
from dbt.tests.adapter.ephemeral.test_ephemeral import (
    BaseEphemeralErrorHandling,
    BaseEphemeralMulti,
    BaseEphemeralNested,
)
from dbt.tests.util import check_relations_equal, run_dbt

from tests.dbt.adapter_suite.in_views import InStrictViews

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


class Multi:
    def test_ephemeral_multi(self, project):
        """The class also compares the statement, which is PostgreSQL's."""
        run_dbt(["seed"])
        assert len(run_dbt(["run"])) == 3
        check_relations_equal(project.adapter, ["seed", "dependent", "double_dependent", "super_dependent"])


class TestMulti(Multi, BaseEphemeralMulti): ...


class TestMultiInViews(Multi, InStrictViews, BaseEphemeralMulti): ...


class Nested:
    def test_ephemeral_nested(self, project):
        """The class compares the statement, which is PostgreSQL's."""
        assert len(run_dbt(["run"])) == 2
        check_relations_equal(project.adapter, ["source_table", "root_view"])


class TestNested(Nested, BaseEphemeralNested): ...


class TestNestedInViews(Nested, InStrictViews, BaseEphemeralNested): ...


class TestErrorHandling(InStrictViews, BaseEphemeralErrorHandling): ...
