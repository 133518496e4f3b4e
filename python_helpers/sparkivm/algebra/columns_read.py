"""Which columns of its tables a relation reads."""

from __future__ import annotations

from sparkivm.algebra.relation import Relation
from sparkivm.algebra.scan import Leaf


def columns_read(relation: Relation, kind: type[Leaf]) -> dict[str, tuple[str, ...]]:
    """Table → names of its columns, in the order in which leaves of a kind (Scan or Changes) name them."""
    found: dict[str, dict[str, None]] = {}
    for node in relation.walk():
        if isinstance(node, kind):
            found.setdefault(node.table, {}).update((source, None) for _, source in node.fields)
    return {table: tuple(names) for table, names in found.items()}
