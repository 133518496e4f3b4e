"""dbt's own adapter tests: what works with dbt-spark works with this adapter.

Tests of features that this adapter does not override are nightly.
"""

import pytest
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.dbt_show.test_dbt_show import BaseShowLimit
from dbt.tests.adapter.utils.test_dateadd import BaseDateAdd
from dbt.tests.adapter.utils.test_datediff import BaseDateDiff

pytestmark = [pytest.mark.dbt, pytest.mark.slow]


@pytest.fixture(scope="class")
def project_config_update():
    """Use Delta where dbt-spark would use parquet."""
    return {
        "models": {"+file_format": "delta"},
        "seeds": {"+file_format": "delta"},
        "snapshots": {"+file_format": "delta"},
    }


class TestAdapterMethod(BaseAdapterMethod):
    pass


class TestEmpty(BaseEmpty):
    pass


@pytest.mark.nightly
class TestEphemeral(BaseEphemeral):
    pass


@pytest.mark.nightly
class TestGenericTests(BaseGenericTests):
    pass


class TestShowLimit(BaseShowLimit):
    pass


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


@pytest.mark.nightly
class TestSingularTests(BaseSingularTests):
    pass


class InViews:
    """The models that call dbt's macros are incremental views; `strict` refuses expressions that are unknown."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {
            "models": {"+materialized": "incremental_view", "+refresh_mode": "strict"},
            "seeds": {"+file_format": "delta"},
        }


@pytest.mark.nightly
class TestDateAddInViews(InViews, BaseDateAdd):
    pass


@pytest.mark.nightly
class TestDateDiffInViews(InViews, BaseDateDiff):
    pass
