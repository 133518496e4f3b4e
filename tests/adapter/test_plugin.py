"""How `type: spark` and `type: databricks` get incremental views: by a plugin of dbt, without a Spark."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.adapters.factory import AdapterContainer

from dbt_sparkivm import SWITCH, IncrementalViewPlugin

EXTENDED = ["spark", "incremental_view"]


@pytest.fixture
def factory(monkeypatch) -> Any:
    """As dbt has it when it creates its plugins."""
    factory = AdapterContainer()
    monkeypatch.setattr("dbt.adapters.factory.FACTORY", factory)
    monkeypatch.delenv(SWITCH, raising=False)
    factory.load_plugin("spark")
    IncrementalViewPlugin("a project").initialize()
    return factory


def test_an_adapter_that_dbt_loads_again_is_extended(factory):
    """As `dbt retry` does, which creates no plugins after that."""
    adapter = factory.plugins["spark"].adapter
    factory.load_plugin("spark")
    assert factory.get_adapter_type_names("spark") == EXTENDED
    assert factory.plugins["spark"].adapter is adapter


def test_the_next_command_of_a_process_is_extended_once(factory):
    load = factory.load_plugin
    factory.load_plugin("spark")
    IncrementalViewPlugin("a project").initialize()
    assert factory.load_plugin is load
    assert factory.get_adapter_type_names("spark") == EXTENDED


def test_the_next_command_may_be_switched_off(factory, monkeypatch):
    monkeypatch.setenv(SWITCH, "off")
    factory.load_plugin("spark")
    IncrementalViewPlugin("a project").initialize()
    assert factory.get_adapter_type_names("spark") == ["spark"]


def test_a_command_for_another_database_stays_as_it_is(monkeypatch):
    factory = AdapterContainer()
    monkeypatch.setattr("dbt.adapters.factory.FACTORY", factory)
    IncrementalViewPlugin("a project").initialize()
    assert factory.plugins == {}
    assert "load_plugin" not in vars(factory)
