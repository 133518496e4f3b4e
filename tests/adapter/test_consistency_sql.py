"""What the data test `incremental_view_is_consistent` runs; what it compares is tried in tests/refresh."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin


@pytest.mark.parametrize(
    ("materialized", "expected"),
    [
        ("incremental_view", "select 'run with --empty' as which_diff where false"),
        ("table", "is materialized as table"),
    ],
)
def test_with_empty_nothing_is_compared(materialized, expected):
    """The model is compiled with limited refs, so its text is not the one that the view was refreshed with."""
    model = SimpleNamespace(config=SimpleNamespace(materialized=materialized))
    adapter: Any = SimpleNamespace(_model_of=lambda view: model)
    limited = SparkRelation.create(schema="shop", identifier="v", limit=0)
    assert expected in IncrementalViewMixin.incremental_view_consistency_sql(adapter, limited)
