"""What dbt builds in a run is looked at again by the views that run later."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from dbt.adapters.spark.relation import SparkRelation
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin

from sparkivm.engine import RelationFacts
from sparkivm.names import TableName
from sparkivm.refresh.sources.pins import Pins

NAME = TableName("shop", "t")


class Adapter(IncrementalViewMixin):
    date_function = None


@pytest.fixture
def adapter() -> Adapter:
    adapter = Adapter.__new__(Adapter)
    adapter.cache = SimpleNamespace(add=lambda relation: None)
    adapter._pins = Pins()
    adapter._pins.facts(NAME, lambda name: RelationFacts(name, "delta", ()))
    return adapter


@pytest.mark.parametrize("schema", ["shop", "`shop`"])
def test_a_relation_that_dbt_has_built(adapter, schema):
    assert adapter._pins.has(NAME)
    adapter.cache_added(SparkRelation.create(schema=schema, identifier="T"))
    assert not adapter._pins.has(NAME)


def test_a_view_that_was_refreshed(adapter):
    """The refresh itself forgot what it changed."""
    adapter._refreshed |= {NAME.key}
    adapter.cache_added(SparkRelation.create(schema="shop", identifier="t"))
    assert adapter._pins.has(NAME)


def test_before_the_first_look(adapter):
    adapter._pins = None
    adapter.cache_added(SparkRelation.create(schema="shop", identifier="t"))
