"""The columns that together identify each row of a relation.

Window functions break ties by them, so that other columns never have to (frontend/windows.py).

tested  tests/unit/test_order_dependent.py
"""

from __future__ import annotations

from sparkivm.algebra import Aggregate, Filter, Project, Relation, Window


def key_columns(relation: Relation) -> frozenset[str] | None:
    """Columns in which no two rows are equal, copies included; None if none are known."""
    match relation:
        case Aggregate():
            return frozenset(relation.keys)
        case Filter() | Window():
            return key_columns(relation.input)
        case Project():
            known = key_columns(relation.input)
            shown = {scalar.as_column: name for name, scalar in reversed(relation.items)}
            if known is not None and known <= shown.keys():
                return frozenset(shown[name] for name in known)
    return None
