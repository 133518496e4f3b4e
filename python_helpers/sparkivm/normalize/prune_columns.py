"""Columns that nothing reads are dropped, down to the scans, so updates of them change nothing.

A relation that occurs several times keeps the columns that any reader needs, and stays shared.
"""

from __future__ import annotations

from collections.abc import Iterable

from sparkivm.algebra import Relation
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import Columns, Pruned


def prune_columns(relation: Relation, needed: Iterable[str]) -> Relation:
    """The relation with at least the columns in `needed`, in any order."""
    nodes = list(relation.walk())
    wanted: dict[Relation, set[str]] = {node: set() for node in nodes}
    wanted[relation] |= set(needed)
    how: dict[Relation, Pruned] = {}
    for node in reversed(nodes):  # readers first
        how[node] = node.pruned(frozenset(wanted[node]))
        for child, read in zip(node.children, how[node][0], strict=True):
            wanted[child].update(read)
    pruned: dict[Relation, Relation] = {}
    for node in nodes:  # children first
        reads, over = how[node]
        pruned[node] = over(tuple(_in_order(pruned[c], r) for c, r in zip(node.children, reads, strict=True)))
    return pruned[relation]


def _in_order(child: Relation, read: frozenset[str] | Columns) -> Relation:
    return child if isinstance(read, frozenset) or child.columns == read else only(child, read)
