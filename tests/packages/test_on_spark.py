"""Four of our projects as incremental views on Spark and Delta, by dbt-spark's own profile."""

from __future__ import annotations

import pytest

from tests.packages.run import OWN, ROUNDS, tried

pytestmark = [pytest.mark.dbt, pytest.mark.slow, pytest.mark.nightly]


@pytest.mark.parametrize("name", ["commerce", "crm", "subscriptions", "support"])
def test_all_models_are_incremental_and_right(name, root_session):
    from tests.packages.spark import SparkWarehouse

    found = tried(OWN / name, SparkWarehouse())
    models = len(list((OWN / name / "models").glob("*.sql")))
    assert found.counts == {"incremental": models}
    assert found.refreshes == models * ROUNDS
