"""How large a plan is for Spark, which writes out what is used several times at each use."""

from __future__ import annotations

from sparkivm.algebra import Relation


def reads_when_inlined(relation: Relation) -> int:
    """Tables and changes that the relation reads, each as often as it stands in the plan without sharing."""
    known: dict[int, int] = {}
    for node in relation.walk():  # children first
        known[id(node)] = sum(known[id(child)] for child in node.children) or 1
    return known[id(relation)]
