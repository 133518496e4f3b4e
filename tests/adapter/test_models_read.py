"""Which models another model of the project reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from dbt.adapters.sparkivm.incremental_view import IncrementalViewMixin


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
