"""Drops the terms of a delta that are empty because an input did not change."""

from __future__ import annotations

from sparkivm.algebra import Empty, Relation
from sparkivm.algebra.relation import rewrite


def prune_empty(relation: Relation) -> Relation:
    """∅ ⋈ A = ∅, ∅ ⊎ A = A, ∅ ⟕ A = ∅, A ⟕ ∅ = A × NULL, and so on."""

    def prune(node: Relation) -> Relation:
        gone = [isinstance(child, Empty) for child in node.children]
        return node.if_empty(gone) if any(gone) else node

    return rewrite(relation, prune)
