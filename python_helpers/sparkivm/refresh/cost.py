"""A first estimate of what a refresh costs: bytes read and written, and the fixed costs of statements.

All figures were measured on TPC-H at scale factor 1, two cores, local disk (docs/decisions/005-cost-rule.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain

from sparkivm.algebra import At, Changes, Relation, Scan
from sparkivm.algebra.scan import Leaf
from sparkivm.changes.source_change import SourceChange
from sparkivm.engine import RelationFacts
from sparkivm.plan.key_ranges import KeyRanges
from sparkivm.plan.state_change import StateChange
from sparkivm.plan.steps import in_steps, step_names
from sparkivm.properties.inlined_size import leaves_when_inlined
from sparkivm.refresh.estimated_size import estimated_bytes, estimated_rows
from sparkivm.refresh.run_memory import may_keep_changes, may_keep_rows

_FULL_BYTES_PER_S = 38e6  # whole tables are joined and grouped
_STATE_BYTES_PER_S = 25e6  # written, or joined with its changes
_DELTA_BYTES_PER_S = 140e6  # a small change is looked up in them
_FIXED_S = {"append": 0.7, "rewrite": 0.9, "replace": 3.0, "merge": 4.0, "full": 0.6}
# How often the bytes of the state are read, about: by a merge thrice, with an exchange.
_STATE_READS = {"append": 0.0, "rewrite": 1.0, "replace": 0.7, "merge": 3.3}
_STAGING_S = 1.0
_FEED_S = 0.35  # to plan one use of a change feed, and to read it
_READ_S = 0.07  # to plan one use of anything, with the joins around it, and to list its files
_READ_IN_FULL_S = 0.17  # the same of a table that is not looked up but joined as a whole
_MORE_BYTES = 1.1  # a change that is spread over all keys makes its joins read whole tables, each term anew
_STEP_S = 0.25  # to write a table, and drop it
_UNKNOWN_RANGES = KeyRanges()


@dataclass(frozen=True)
class Work:
    """What Spark does to compute rows, apart from the state in which they end."""

    feeds: int  # changes of a source that are read from its log
    reads: int  # anything that is not in memory, each use counted, as Spark plans it each time
    steps: int  # tables in which parts of a large plan are computed first
    rows: float  # of tables, each use counted
    bytes: float  # the same


@dataclass(frozen=True)
class Estimate:
    """Seconds; only their ratio means something."""

    incremental_s: float
    full_s: float
    from_changes: Work
    in_full: Work
    # how often the changes of a source, and its rows at their newest, are going to be read
    changes_read: Mapping[str, int]
    rows_read: Mapping[str, int]

    @property
    def prefers_full(self) -> bool:
        """Whether a rebuild takes less time, or reads less."""
        return self.incremental_s > self.full_s or self._reads_more

    @property
    def prefers_full_at_best(self) -> bool:
        """The same if nothing had to be read of tables."""
        return self.incremental_s - _reading_s(self.from_changes) > self.full_s

    @property
    def _reads_more(self) -> bool:
        return self.from_changes.bytes > _MORE_BYTES * self.in_full.bytes

    def __str__(self) -> str:
        text = f"estimated {self.incremental_s:.1f} s from changes, {self.full_s:.1f} s in full"
        if self._reads_more:
            read, full = self.from_changes.bytes / 1e6, self.in_full.bytes / 1e6
            text += f"; {read:.0f} MB to read from changes, {full:.0f} MB in full"
        return text


def estimate(
    change: StateChange,
    core: Relation,
    state: RelationFacts,
    tables: Mapping[str, RelationFacts],
    changes: Mapping[str, SourceChange],
    ranges: KeyRanges = _UNKNOWN_RANGES,
) -> Estimate:
    """Compare the change with computing `core` again; `tables` and `changes` by the key of the source.

    ranges  of the changed keys, if they are known
    """
    changes_read, rows_read = Counter[str](), Counter[str]()
    for leaf, uses in chain.from_iterable(map(leaves_when_inlined, change.parts)):
        if isinstance(leaf, Changes):
            changes_read[leaf.table] += uses
        elif isinstance(leaf, Scan) and leaf.at is At.NEW and leaf.table in tables:
            rows_read[leaf.table] += uses
    kept_changes = {key for key, uses in changes_read.items() if _are_kept(changes[key], uses)}
    kept_rows = {key for key, uses in rows_read.items() if uses > 1 and may_keep_rows(tables[key])}

    state_bytes = state.size_bytes or 0
    from_changes = _from_changes(change, tables, changes, ranges, kept_changes, kept_rows)
    incremental_s = (
        _FIXED_S[change.form]
        + (_STAGING_S if change.staged is not None else 0.0)
        + _FEED_S * from_changes.feeds
        + _READ_S * from_changes.reads
        + _STEP_S * from_changes.steps
        + _reading_s(from_changes)
        + _STATE_READS[change.form] * state_bytes / _STATE_BYTES_PER_S
    )
    in_full = _in_full(core, tables)
    full_s = (
        _FIXED_S["full"]
        + _READ_IN_FULL_S * in_full.reads
        + in_full.bytes / _FULL_BYTES_PER_S
        + state_bytes / _STATE_BYTES_PER_S
    )
    return Estimate(incremental_s, full_s, from_changes, in_full, changes_read, rows_read)


def _reading_s(work: Work) -> float:
    return work.bytes / _DELTA_BYTES_PER_S


def _from_changes(
    change: StateChange,
    tables: Mapping[str, RelationFacts],
    changes: Mapping[str, SourceChange],
    ranges: KeyRanges,
    kept_changes: Collection[str],
    kept_rows: Collection[str],
) -> Work:
    feeds = Counter(key for key in kept_changes if not changes[key].kept)
    reads = steps = 0
    rows = read_bytes = 0.0
    for part in change.parts:
        cut = in_steps(part, step_names(), kept=kept_changes)
        steps += len(cut.tables)
        parts = ranges.parts(part, change.staged)
        for leaf, uses in chain.from_iterable(map(leaves_when_inlined, cut.statements)):
            if leaf.table in (kept_changes if isinstance(leaf, Changes) else kept_rows):
                continue
            reads += uses
            if isinstance(leaf, Changes):
                feeds[leaf.table] += uses
            elif leaf.table in tables:
                share = parts[leaf.table].share if leaf.table in parts else 1.0
                rows += uses * share * estimated_rows(tables[leaf.table])
                read_bytes += uses * share * _bytes(leaf, tables)
    for key, times in feeds.items():
        read_bytes += times * changes[key].scans * estimated_bytes(tables[key])
    return Work(feeds.total(), reads, steps, rows, read_bytes)


def _in_full(core: Relation, tables: Mapping[str, RelationFacts]) -> Work:
    scans = leaves_when_inlined(core)
    return Work(
        feeds=0,
        reads=sum(uses for _, uses in scans),
        steps=0,
        rows=sum(uses * estimated_rows(tables[scan.table]) for scan, uses in scans),
        bytes=sum(uses * _bytes(scan, tables) for scan, uses in scans),
    )


def _are_kept(change: SourceChange, uses: int) -> bool:
    return bool(change.kept) or (uses > 1 and may_keep_changes(change))


def _bytes(leaf: Leaf, tables: Mapping[str, RelationFacts]) -> float:
    """Bytes of the columns that are read, all columns taken for equally wide."""
    facts = tables[leaf.table]
    return estimated_bytes(facts) * len({source for _, source in leaf.fields}) / max(1, len(facts.fields))
