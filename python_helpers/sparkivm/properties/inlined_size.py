"""How large a plan is for Spark, which inlines a shared relation at each use."""

from __future__ import annotations

from collections import Counter

from sparkivm.algebra import Relation
from sparkivm.algebra.scan import Leaf


def reads_when_inlined(relation: Relation) -> int:
    """The number of reads of tables and changes, each counted as often as it occurs without sharing."""
    return sum(uses for node, uses in uses_when_inlined(relation) if not node.children)


def leaves_when_inlined(relation: Relation) -> list[tuple[Leaf, int]]:
    """The same, one by one, and how often each occurs."""
    return [(node, uses) for node, uses in uses_when_inlined(relation) if isinstance(node, Leaf)]


def uses_when_inlined(relation: Relation) -> list[tuple[Relation, int]]:
    """All relations in the plan, children first, and how often each occurs."""
    nodes = list(relation.walk())
    uses = Counter({id(relation): 1})
    for node in reversed(nodes):  # parents first
        for child in node.children:
            uses[id(child)] += uses[id(node)]
    return [(node, uses[id(node)]) for node in nodes]
