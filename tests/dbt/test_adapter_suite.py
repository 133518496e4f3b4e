"""dbt's own tests of adapters: what worked with dbt-spark works with this adapter."""

import pytest
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.dbt_show.test_dbt_show import BaseShowLimit

pytestmark = [pytest.mark.dbt, pytest.mark.slow]


@pytest.fixture(scope="class")
def project_config_update():
    """Delta wherever dbt-spark would take parquet."""
    return {
        "models": {"+file_format": "delta"},
        "seeds": {"+file_format": "delta"},
        "snapshots": {"+file_format": "delta"},
    }


class TestAdapterMethod(BaseAdapterMethod):
    pass


class TestEmpty(BaseEmpty):
    pass


class TestEphemeral(BaseEphemeral):
    pass


class TestGenericTests(BaseGenericTests):
    pass


class TestShowLimit(BaseShowLimit):
    pass


class TestSimpleMaterializations(BaseSimpleMaterializations):
    pass


class TestSingularTests(BaseSingularTests):
    pass
