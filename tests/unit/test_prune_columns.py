"""Columns that nothing reads are dropped, also where a shared part keeps columns for another reader."""

from __future__ import annotations

from sparkivm.algebra import Scan, UnionAll
from sparkivm.algebra.project import only, renamed
from sparkivm.normalize.prune_columns import prune_columns

SHARED = Scan("r", (("k", "k"), ("a", "a"), ("b", "b")))
OTHER = renamed(Scan("s", (("k2", "k"), ("a2", "a"), ("b2", "b"))), (("k", "k2"), ("a", "a2"), ("b", "b2")))


def test_a_scan_keeps_what_is_read():
    assert prune_columns(SHARED, ["a"]).columns == ("a",)
    assert set(prune_columns(SHARED, ["b", "k"]).columns) == {"b", "k"}


def test_inputs_of_a_union_have_its_columns_although_another_reader_needs_more():
    union = only(UnionAll((SHARED, OTHER)), ["b"])
    relation = UnionAll((union, renamed(SHARED, (("b", "a"),)), renamed(SHARED, (("b", "k"),))))
    pruned = prune_columns(relation, ["b"])
    unions = [node for node in pruned.walk() if isinstance(node, UnionAll)]
    assert len(unions) == 2
    assert all(child.columns == ("b",) for node in unions for child in node.children)
    (shared,) = {node for node in pruned.walk() if isinstance(node, Scan) and node.table == "r"}
    assert set(shared.columns) == {"k", "a", "b"}
