"""How large a table is, estimated from its metadata."""

from __future__ import annotations

from sparkivm.engine import RelationFacts

# Up to this size a linear state takes appended entries, which readers add up.
SMALL_STATE_BYTES = 8 << 20

BYTES_PER_FIELD = 4  # of a compressed row, roughly
_UNKNOWN_BYTES = 64 << 20


def estimated_bytes(facts: RelationFacts) -> int:
    """Bytes of the table's files; a guess if they are unknown."""
    return _UNKNOWN_BYTES if facts.size_bytes is None else facts.size_bytes


def estimated_rows(facts: RelationFacts) -> float:
    """Rows of the table, at least one."""
    return max(1.0, estimated_bytes(facts) / (BYTES_PER_FIELD * max(1, len(facts.fields))))
