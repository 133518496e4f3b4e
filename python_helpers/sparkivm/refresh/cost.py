"""A first estimate of what a refresh costs: bytes read and written, and the statements' fixed costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparkivm.algebra import InnerJoin, LeftJoin, Relation, Scan
from sparkivm.engine import RelationFacts
from sparkivm.plan.state_change import StateChange

# Measured on TPC-H at scale factor 1, two cores, local disk (docs/decisions/005-cost-rule.md).
_BYTES_PER_S = 100e6
_FIXED_S = {"append": 0.5, "rewrite": 0.9, "replace": 2.5, "merge": 2.0, "full": 1.0}
_WRITE_FACTOR = 3.0  # a byte of state written costs as much as this many read
_REPLACE_FACTOR = 1.5  # replacing a part reads one column of the state, and the part
_MERGE_FACTOR = 6.0  # a merge reads and shuffles the state thrice, and writes its touched part
_STATE_FACTORS = {
    "append": 0.0,
    "rewrite": _WRITE_FACTOR,
    "replace": _REPLACE_FACTOR,
    "merge": _MERGE_FACTOR,
}
_JOIN_FACTOR = 1.3  # joining whole tables, against looking a small delta up in them
_UNKNOWN_BYTES = 1 << 20


@dataclass(frozen=True)
class Estimate:
    """Seconds; only their ratio means something."""

    incremental_s: float
    full_s: float
    read_bytes: float  # of sources, by the statements from changes

    def __str__(self) -> str:
        return f"estimated {self.incremental_s:.1f} s from changes, {self.full_s:.1f} s in full"


def estimate(
    change: StateChange, core: Relation, state: RelationFacts, tables: Mapping[str, RelationFacts]
) -> Estimate:
    state_bytes = state.size_bytes or 0
    applies = state_bytes * _STATE_FACTORS[change.form]
    reads = sum(_scanned(part, tables) for part in (change.staged, change.rows) if part is not None)
    joins = sum(isinstance(node, (InnerJoin, LeftJoin)) for node in core.walk())
    full = _scanned(core, tables) * (_JOIN_FACTOR if joins else 1.0) + _WRITE_FACTOR * state_bytes
    return Estimate(
        (reads + applies) / _BYTES_PER_S + _FIXED_S[change.form],
        full / _BYTES_PER_S + _FIXED_S["full"],
        reads,
    )


def _scanned(relation: Relation, tables: Mapping[str, RelationFacts]) -> float:
    """Bytes of the tables that a plan scans, once for each scan."""
    scans = [node.table for node in relation.walk() if isinstance(node, Scan) and node.table in tables]
    return float(sum(_bytes(tables[table]) for table in scans))


def _bytes(facts: RelationFacts) -> int:
    return _UNKNOWN_BYTES if facts.size_bytes is None else facts.size_bytes
