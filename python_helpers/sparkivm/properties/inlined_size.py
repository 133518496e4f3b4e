"""How large a plan is for Spark, which writes out what is used several times at each use."""

from __future__ import annotations

from collections import Counter

from sparkivm.algebra import Relation
from sparkivm.algebra.scan import Leaf


def reads_when_inlined(relation: Relation) -> int:
    """Tables and changes that the relation reads, each as often as it stands in the plan without sharing."""
    known: dict[int, int] = {}
    for node in relation.walk():  # children first
        known[id(node)] = sum(known[id(child)] for child in node.children) or 1
    return known[id(relation)]


def leaves_when_inlined(relation: Relation) -> list[tuple[Leaf, int]]:
    """The tables and changes that the relation reads, and how often each stands in the inlined plan."""
    nodes = list(relation.walk())
    uses = Counter({id(relation): 1})
    for node in reversed(nodes):  # parents first
        for child in node.children:
            uses[id(child)] += uses[id(node)]
    return [(node, uses[id(node)]) for node in nodes if isinstance(node, Leaf)]
