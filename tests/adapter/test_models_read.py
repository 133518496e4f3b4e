"""Which models another model of the project reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin
from dbt.adapters.sparkivm.model_config import IncrementalViewOptions
from dbt.adapters.sparkivm.project_nodes import shared_relations
from dbt.artifacts.resources import NodeConfig

from sparkivm.refresh.request import StateLayout


def node(kind: str, *read: str) -> Any:
    return SimpleNamespace(resource_type=kind, depends_on_nodes=list(read))


def test_models_and_snapshots_read_but_tests_do_not():
    nodes = {
        "model.p.below": node("model", "source.p.s.t"),
        "model.p.above": node("model", "model.p.below"),
        "snapshot.p.kept": node("snapshot", "model.p.above"),
        "test.p.unique": node("test", "model.p.alone"),
        "model.p.alone": node("model", "model.p.below"),
    }
    adapter: Any = SimpleNamespace(get_macro_resolver=lambda: SimpleNamespace(nodes=nodes))
    read = IncrementalViewMixin._models_read.__get__(adapter)
    assert read == {"source.p.s.t", "model.p.below", "model.p.above"}
    nodes.clear()
    assert IncrementalViewMixin._models_read.__get__(adapter) is read  # once per run


def model(name: str, materialized: str, *read: str) -> Any:
    return SimpleNamespace(
        resource_type="model", unique_id=f"model.p.{name}", schema="shop", alias=name,
        depends_on_nodes=list(read), config=NodeConfig(materialized=materialized),
    )  # fmt: skip


def test_relations_with_several_readers_in_the_run():
    models = [
        model("built", "table", "source.p.s.raw"),
        model("lines", "view", "source.p.s.raw", "model.p.built"),
        model("open_lines", "ephemeral", "model.p.lines"),
        model("alone", "view", "model.p.built"),
        model("a", "incremental_view", "model.p.lines", "model.p.alone", "macro.p.m"),
        model("b", "incremental_view", "model.p.open_lines"),
        model("c", "table", "model.p.alone"),
        model("above", "incremental_view", "model.p.a"),
        model("beside", "incremental_view", "model.p.a"),
    ]
    raw = SimpleNamespace(
        resource_type="source", unique_id="source.p.s.raw", schema="lake.s", identifier="Raw", config=None
    )
    manifest = SimpleNamespace(nodes={one.unique_id: one for one in models}, sources={raw.unique_id: raw})
    selected = set(manifest.nodes)

    def shared(selected):
        return shared_relations(manifest, selected, lambda node: {"a": "states"}.get(node.alias))

    assert shared(selected) == {"shop.lines", "shop.built", "states.shop.a__ivm", "lake.s.raw"}
    assert shared(selected - {"model.p.b", "model.p.beside"}) == frozenset()
    assert shared({"test.p.of_a", "source.p.s.raw"}) == frozenset()


@pytest.mark.parametrize(("options", "catalog"), [({}, "sparkivm"), ({"file_format": "delta"}, None)])
def test_the_catalog_of_a_state_may_be_the_profiles(options, catalog):
    """Other views read the state there."""
    layout = StateLayout(file_format="iceberg", catalog="sparkivm")
    adapter: Any = SimpleNamespace(_options=lambda model: IncrementalViewOptions.of(model, layout))
    read = SimpleNamespace(to_dict=lambda: {"name": "a", "unique_id": "model.p.a", "config": options})
    assert IncrementalViewMixin._state_catalog(adapter, read) == catalog
