"""Columns that nothing reads are left out, down to the scans: updates of them then change nothing.

What stands in a plan several times keeps the columns that any of its readers needs, and stays one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sparkivm.algebra import Relation
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import Columns


def prune_columns(relation: Relation, needed: Iterable[str]) -> Relation:
    """The relation with at least the columns in `needed`, in an order of its own."""
    nodes = list(relation.walk())
    wanted: dict[int, set[str]] = {id(node): set() for node in nodes}
    wanted[id(relation)] |= set(needed)
    reads: dict[int, tuple[frozenset[str] | Columns, ...]] = {}
    over: dict[int, Callable[[tuple[Relation, ...]], Relation]] = {}
    for node in reversed(nodes):  # readers first
        reads[id(node)], over[id(node)] = node.pruned(frozenset(wanted[id(node)]))
        for child, read in zip(node.children, reads[id(node)], strict=True):
            wanted[id(child)].update(read)
    pruned: dict[int, Relation] = {}
    for node in nodes:  # children first
        pairs = zip(node.children, reads[id(node)], strict=True)
        children = tuple(_in_order(pruned[id(child)], read) for child, read in pairs)
        pruned[id(node)] = over[id(node)](children)
    return pruned[id(relation)]


def _in_order(child: Relation, read: frozenset[str] | Columns) -> Relation:
    return child if isinstance(read, frozenset) or child.columns == read else only(child, read)
