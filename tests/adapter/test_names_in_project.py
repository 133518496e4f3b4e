"""The names that operations accept for a model or a source."""

from __future__ import annotations

from types import SimpleNamespace

from dbt.adapters.sparkivm.project_nodes import names_in_project


def test_model():
    node = SimpleNamespace(
        resource_type="model", unique_id="model.shop.sums", name="sums", alias="s", version=None
    )
    assert names_in_project(node) == ("model.shop.sums", "sums")


def test_version_of_a_model():
    """The name alone means all versions; a number or an alias selects one."""
    node = SimpleNamespace(
        resource_type="model", unique_id="model.shop.sums.v2", name="sums", alias="sums_v2", version=2
    )
    assert names_in_project(node) == ("model.shop.sums.v2", "sums", "sums.v2", "sums_v2")


def test_source():
    node = SimpleNamespace(
        resource_type="source", unique_id="source.p.shop.orders", name="orders", source_name="shop"
    )
    assert names_in_project(node) == ("source.p.shop.orders", "shop.orders")
