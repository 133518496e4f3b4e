"""Whether a relation only gains rows when its sources only gain rows."""

from __future__ import annotations

from sparkivm.algebra import Aggregate, FullJoin, LeftJoin, Relation, SemiJoin, Window


def keeps_append_only(relation: Relation) -> bool:
    """Monotone operators: more rows in, no row out. An outer join takes padding away, a group is replaced."""
    return not any(
        isinstance(node, (Aggregate, Window, LeftJoin, FullJoin))
        or (isinstance(node, SemiJoin) and node.anti)
        for node in relation.walk()
    )
