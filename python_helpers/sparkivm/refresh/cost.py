"""A first estimate of what a refresh costs: bytes read and written, and the statements' fixed costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparkivm.algebra import InnerJoin, LeftJoin, Relation, Scan
from sparkivm.engine import RelationFacts
from sparkivm.plan.group_changes import STATE

# Measured on TPC-H at scale factor 1, two cores, local disk (docs/decisions/005-cost-rule.md).
_BYTES_PER_S = 100e6
_FIXED_S = {"append": 0.5, "rewrite": 0.9, "merge": 2.0, "full": 1.0}
_WRITE_FACTOR = 3.0  # a byte of state written costs as much as this many read
_MERGE_FACTOR = 4.0  # a merge reads the state twice and writes its touched part
_JOIN_FACTOR = 1.3  # joining whole tables, against looking a small delta up in them
_UNKNOWN_BYTES = 1 << 20


@dataclass(frozen=True)
class Estimate:
    """Seconds; only their ratio means something."""

    incremental_s: float
    full_s: float

    def __str__(self) -> str:
        return f"estimated {self.incremental_s:.1f} s from changes, {self.full_s:.1f} s in full"


def estimate(
    delta: Relation, core: Relation, form: str, state: RelationFacts, tables: Mapping[str, RelationFacts]
) -> Estimate:
    state_bytes = state.size_bytes or 0
    writes = {"append": 0.0, "rewrite": _WRITE_FACTOR * state_bytes, "merge": _MERGE_FACTOR * state_bytes}[
        form
    ]
    joins = sum(isinstance(node, (InnerJoin, LeftJoin)) for node in core.walk())
    full = _scanned(core, tables) * (_JOIN_FACTOR if joins else 1.0) + _WRITE_FACTOR * state_bytes
    return Estimate(
        (_scanned(delta, tables) + writes) / _BYTES_PER_S + _FIXED_S[form],
        full / _BYTES_PER_S + _FIXED_S["full"],
    )


def _scanned(relation: Relation, tables: Mapping[str, RelationFacts]) -> float:
    """Bytes of the tables that a plan scans, once for each scan."""
    scans = [node.table for node in relation.walk() if isinstance(node, Scan) and node.table != STATE]
    return float(sum(_bytes(tables[table]) for table in scans))


def _bytes(facts: RelationFacts) -> int:
    return _UNKNOWN_BYTES if facts.size_bytes is None else facts.size_bytes
