"""Which columns of its tables a relation reads."""

from __future__ import annotations

from sparkivm.algebra.relation import Relation
from sparkivm.algebra.scan import Leaf


def columns_read(relation: Relation, kind: type[Leaf]) -> dict[str, tuple[str, ...]]:
    """Table → its columns that leaves of one kind (Scan or Changes) read, in the order of first use."""
    found: dict[str, dict[str, None]] = {}
    for node in relation.walk():
        if isinstance(node, kind):
            found.setdefault(node.table, {}).update((source, None) for _, source in node.fields)
    return {table: tuple(names) for table, names in found.items()}
