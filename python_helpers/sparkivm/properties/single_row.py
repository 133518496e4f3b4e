"""Whether a relation has one row at most, whatever its sources hold."""

from __future__ import annotations

from sparkivm.algebra import (
    Aggregate,
    Filter,
    InnerJoin,
    LeftJoin,
    OneRow,
    Project,
    Relation,
    SemiJoin,
    Window,
)


def at_most_one_row(relation: Relation) -> bool:
    """Aggregates without GROUP BY, and what makes no further rows of their one."""
    match relation:
        case OneRow():
            return True
        case Aggregate():
            return not relation.keys or at_most_one_row(relation.input)
        case Project() | Filter() | Window():
            return at_most_one_row(relation.input)
        case SemiJoin():
            return at_most_one_row(relation.left)
        case InnerJoin() | LeftJoin():
            return all(map(at_most_one_row, relation.children))
        case _:
            return False
