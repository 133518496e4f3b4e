"""How large a plan is for Spark, which writes out what is used several times at each use."""

from __future__ import annotations

from collections import Counter

from sparkivm.algebra import Relation
from sparkivm.algebra.scan import Leaf


def reads_when_inlined(relation: Relation) -> int:
    """Tables and changes that the relation reads, each as often as it stands in the plan without sharing."""
    return sum(uses for node, uses in uses_when_inlined(relation) if not node.children)


def leaves_when_inlined(relation: Relation) -> list[tuple[Leaf, int]]:
    """The same one by one, and how often each stands there."""
    return [(node, uses) for node, uses in uses_when_inlined(relation) if isinstance(node, Leaf)]


def uses_when_inlined(relation: Relation) -> list[tuple[Relation, int]]:
    """All that the relation is made of, and how often each stands there; children first."""
    nodes = list(relation.walk())
    uses = Counter({id(relation): 1})
    for node in reversed(nodes):  # parents first
        for child in node.children:
            uses[id(child)] += uses[id(node)]
    return [(node, uses[id(node)]) for node in nodes]
