"""Which models another model of the project reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin
from dbt.adapters.sparkivm.project_nodes import shared_views


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
    adapter: Any = SimpleNamespace(_read=None, get_macro_resolver=lambda: SimpleNamespace(nodes=nodes))
    read = IncrementalViewMixin._models_read(adapter)
    assert read == {"source.p.s.t", "model.p.below", "model.p.above"}
    nodes.clear()
    assert IncrementalViewMixin._models_read(adapter) is read  # once per run


def model(name: str, materialized: str, *read: str) -> Any:
    return SimpleNamespace(
        resource_type="model", schema="shop", alias=name, depends_on_nodes=[f"model.p.{one}" for one in read],
        config=SimpleNamespace(materialized=materialized),
    )  # fmt: skip


def test_plain_views_with_several_readers_in_the_run():
    models = [
        model("orders", "table"),
        model("lines", "view", "orders"),
        model("open_lines", "ephemeral", "lines"),
        model("alone", "view", "orders"),
        model("a", "incremental_view", "lines", "alone", "orders"),
        model("b", "incremental_view", "open_lines"),
        model("c", "table", "alone"),
        model("above", "incremental_view", "a"),
    ]
    manifest = SimpleNamespace(nodes={f"model.p.{one.alias}": one for one in models})
    selected = set(manifest.nodes)
    assert shared_views(manifest, selected) == {"shop.lines"}
    assert shared_views(manifest, selected - {"model.p.b"}) == frozenset()
    assert shared_views(manifest, {"test.p.of_a", "source.p.s.t"}) == frozenset()
