"""A first estimate of what a refresh costs: bytes read and written, and the fixed costs of statements.

All figures were measured on TPC-H at scale factor 1, two cores, local disk (docs/decisions/005-cost-rule.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain

from sparkivm.algebra import At, Changes, Relation, Scan
from sparkivm.algebra.scan import Leaf
from sparkivm.changes.source_change import SourceChange
from sparkivm.engine import RelationFacts
from sparkivm.plan.key_ranges import KeyRanges
from sparkivm.plan.state_change import StateChange
from sparkivm.plan.steps import in_steps, step_names
from sparkivm.properties.inlined_size import leaves_when_inlined
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
_UNKNOWN_BYTES = 1 << 20
_UNKNOWN_RANGES = KeyRanges()


@dataclass(frozen=True)
class Estimate:
    """Seconds; only their ratio means something."""

    incremental_s: float
    full_s: float
    read_bytes: float  # of sources, by the statements from changes
    full_bytes: float  # the same by a rebuild
    steps: int = 0  # tables in which parts of a large plan are computed first
    # how often the changes of a source, and its rows at their newest, are going to be read
    changes_read: Mapping[str, int] = field(default_factory=dict)
    rows_read: Mapping[str, int] = field(default_factory=dict)

    @property
    def prefers_full(self) -> bool:
        """Whether a rebuild takes less time, or reads less."""
        return self.incremental_s > self.full_s or self._reads_more

    @property
    def prefers_full_at_best(self) -> bool:
        """The same if what is read from changes were nothing."""
        return self.incremental_s - self.read_bytes / _DELTA_BYTES_PER_S > self.full_s

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
    ranges: KeyRanges = _UNKNOWN_RANGES,
) -> Estimate:
    """Compare the change with computing `core` again; `tables` and `changes` by the key of the source.

    ranges  of the changed keys, if they are known
    """
    state_bytes = state.size_bytes or 0

    planned = [found for part in change.parts for found in leaves_when_inlined(part)]
    changes_read = Counter[str]()
    rows_read = Counter[str]()
    for leaf, uses in planned:
        if isinstance(leaf, Changes):
            changes_read[leaf.table] += uses
        elif isinstance(leaf, Scan) and leaf.at is At.NEW and leaf.table in tables:
            rows_read[leaf.table] += uses
    kept_changes = {key for key, uses in changes_read.items() if _is_kept(changes[key], uses)}
    kept_rows = {key for key, uses in rows_read.items() if uses > 1 and may_keep_rows(tables[key])}

    cut = [in_steps(part, step_names(), kept=kept_changes) for part in change.parts]
    feeds = Counter(key for key in kept_changes if not changes[key].kept)  # read from the log, how often
    reads = 0
    read_bytes = 0.0
    for part, steps in zip(change.parts, cut, strict=True):
        shares = {table: part.share for table, part in ranges.parts(part, change.staged).items()}
        for leaf, uses in chain.from_iterable(map(leaves_when_inlined, steps.statements)):
            kept = kept_changes if isinstance(leaf, Changes) else kept_rows
            if leaf.table in kept:
                continue
            reads += uses
            if isinstance(leaf, Changes):
                feeds[leaf.table] += uses
            elif leaf.table in tables:
                read_bytes += uses * _bytes(leaf, tables) * shares.get(leaf.table, 1.0)
    read_bytes += sum(
        times * changes[key].scans * (tables[key].size_bytes or 0) for key, times in feeds.items()
    )
    between = sum(len(steps.tables) for steps in cut)
    incremental_s = (
        _FIXED_S[change.form]
        + (_STAGING_S if change.staged is not None else 0.0)
        + _FEED_S * feeds.total()
        + _READ_S * reads
        + _STEP_S * between
        + read_bytes / _DELTA_BYTES_PER_S
        + _STATE_READS[change.form] * state_bytes / _STATE_BYTES_PER_S
    )

    scans = leaves_when_inlined(core)
    whole = sum(uses * _bytes(scan, tables) for scan, uses in scans)
    full_s = (
        _FIXED_S["full"]
        + _READ_IN_FULL_S * sum(uses for _, uses in scans)
        + whole / _FULL_BYTES_PER_S
        + state_bytes / _STATE_BYTES_PER_S
    )
    return Estimate(incremental_s, full_s, read_bytes, whole, between, changes_read, rows_read)


def _is_kept(change: SourceChange, uses: int) -> bool:
    return bool(change.kept) or (uses > 1 and may_keep_changes(change))


def _bytes(leaf: Leaf, tables: Mapping[str, RelationFacts]) -> float:
    """Bytes of the columns that are read, all columns taken for equally wide."""
    facts = tables[leaf.table]
    size = _UNKNOWN_BYTES if facts.size_bytes is None else facts.size_bytes
    return size * len({source for _, source in leaf.fields}) / max(1, len(facts.fields))
