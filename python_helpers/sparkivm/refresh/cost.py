"""A first estimate of what a refresh costs: bytes read and written, and the fixed costs of statements.

All figures were measured on TPC-H at scale factor 1, two cores, local disk (docs/decisions/005-cost-rule.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparkivm.algebra import Changes, FullJoin, InnerJoin, LeftJoin, Relation, Scan, SemiJoin
from sparkivm.algebra.scan import Leaf
from sparkivm.changes.source_change import SourceChange
from sparkivm.engine import RelationFacts
from sparkivm.plan.state_change import StateChange
from sparkivm.plan.steps import in_steps, step_names

_FULL_BYTES_PER_S = 25e6  # whole tables are joined and grouped
_DELTA_BYTES_PER_S = 45e6  # a small change is looked up in them
_JOIN_FACTOR = 1.3  # joining whole tables, against reading one
_FIXED_S = {"append": 0.8, "rewrite": 1.0, "replace": 3.0, "merge": 4.0, "full": 1.0}
# How often the bytes of the state are read, about: by a merge thrice, with an exchange.
_STATE_READS = {"append": 0.0, "rewrite": 2.0, "replace": 1.2, "merge": 6.0}
_STAGING_S = 1.0
_FEED_S = 0.3  # to plan a change feed
_SCAN_S = 0.1  # to list the files of a table
_READ_S = 0.05  # to plan one more use of either, above some that the fixed costs are measured with
_READS_INCLUDED = 40
_MORE_BYTES = 1.1  # a change that is spread over all keys makes its joins read whole tables, each term anew
_STEP_S = 0.6  # to write a table, and drop it
_UNKNOWN_BYTES = 1 << 20


@dataclass(frozen=True)
class Estimate:
    """Seconds; only their ratio means something."""

    incremental_s: float
    full_s: float
    read_bytes: float  # of sources, by the statements from changes
    full_bytes: float  # the same by a rebuild
    steps: int = 0  # tables in which parts of a large plan are computed first

    @property
    def prefers_full(self) -> bool:
        """Whether a rebuild takes less time, or reads less."""
        return self.incremental_s > self.full_s or self._reads_more

    @property
    def _reads_more(self) -> bool:
        return self.read_bytes > _MORE_BYTES * self.full_bytes

    def __str__(self) -> str:
        text = f"estimated {self.incremental_s:.1f} s from changes, {self.full_s:.1f} s in full"
        if self._reads_more:
            read, full = self.read_bytes / 1e6, self.full_bytes / 1e6
            text += f"; {read:.0f} MB to read from changes, {full:.0f} MB in full"
        return text


def estimate(
    change: StateChange,
    core: Relation,
    state: RelationFacts,
    tables: Mapping[str, RelationFacts],
    changes: Mapping[str, SourceChange],
) -> Estimate:
    """Compare the change with computing `core` again; `tables` and `changes` by the key of the source."""
    state_bytes = state.size_bytes or 0

    parts = change.parts
    cut = [in_steps(part, step_names()) for part in parts]
    between = sum(len(steps.tables) for steps in cut)
    scans = [scan for part in parts for scan in _leaves(part, Scan) if scan.table in tables]
    feeds = {feed.table: feed for part in parts for feed in _leaves(part, Changes)}.values()
    read = sum(_bytes(scan, tables) for scan in scans)
    read += sum(_bytes(feed, tables) * changes[feed.table].scans for feed in feeds)
    incremental_s = (
        _FIXED_S[change.form]
        + (_STAGING_S if change.staged is not None else 0.0)
        + _FEED_S * len(feeds)
        + _SCAN_S * len(scans)
        + _STEP_S * between
        + _READ_S * max(0, sum(steps.reads for steps in cut) - _READS_INCLUDED)
        + (read + _STATE_READS[change.form] * state_bytes) / _DELTA_BYTES_PER_S
    )

    joins = any(isinstance(node, (InnerJoin, LeftJoin, FullJoin, SemiJoin)) for node in core.walk())
    whole = sum(_bytes(scan, tables) for scan in _leaves(core, Scan))
    full_s = _FIXED_S["full"] + (whole * (_JOIN_FACTOR if joins else 1.0) + state_bytes) / _FULL_BYTES_PER_S
    return Estimate(incremental_s, full_s, read, whole, between)


def _leaves(relation: Relation, kind: type[Leaf]) -> list[Leaf]:
    """The leaves of a kind, as often as the plan reads them."""
    return [node for node in relation.walk() if isinstance(node, kind)]


def _bytes(leaf: Leaf, tables: Mapping[str, RelationFacts]) -> float:
    """Bytes of the columns that are read, all columns taken for equally wide."""
    facts = tables[leaf.table]
    size = _UNKNOWN_BYTES if facts.size_bytes is None else facts.size_bytes
    return size * len({source for _, source in leaf.fields}) / max(1, len(facts.fields))
