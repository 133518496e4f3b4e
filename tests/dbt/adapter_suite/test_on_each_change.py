"""The few classes that run on each change; all others are nightly."""

import pytest
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.dbt_show.test_dbt_show import BaseShowLimit

pytestmark = [pytest.mark.dbt, pytest.mark.slow]


class TestAdapterMethod(BaseAdapterMethod): ...


class TestEmpty(BaseEmpty): ...


class TestShowLimit(BaseShowLimit): ...


class TestSimpleMaterializations(BaseSimpleMaterializations): ...
