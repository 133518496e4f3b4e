"""Estimates the costs of a refresh from changes and of a rebuild by one formula.

`Work` counts what Spark plans, reads, groups and exchanges for a plan. The seconds for each were fitted to
TPC-H at scale factors 1 and 5, two cores, local disk (docs/decisions/005-cost-rule.md).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from operator import add

from sparkivm import algebra as ra
from sparkivm.algebra import At, Relation, operator
from sparkivm.engine import RelationFacts
from sparkivm.errors import no_rule
from sparkivm.formats import STATE_FORMATS
from sparkivm.formats.source_change import SourceChange
from sparkivm.plan.distinct_values import distinct_values
from sparkivm.plan.join_order import BROADCAST_ROWS, RowEstimate, Sizes
from sparkivm.plan.key_ranges import KeyRanges
from sparkivm.plan.state_change import StateChange
from sparkivm.plan.steps import Steps, in_steps, step_names
from sparkivm.properties.inlined_size import leaves_when_inlined, uses_when_inlined
from sparkivm.refresh.changed_rows.estimated_size import (
    BYTES_PER_FIELD,
    SMALL_STATE_BYTES,
    estimated_bytes,
    estimated_rows,
)
from sparkivm.refresh.changed_rows.run_memory import keeps_changes, keeps_rows

_FIXED_S = {"append": 1.1, "rewrite": 1.3, "replace": 3.4, "merge": 4.4, "recompute": 0.9, "full": 0.9}
_STAGING_S = 1.0
_FEED_S = 0.25  # to plan one use of a change feed, and to read it
_READ_S = 0.31  # to plan one use of anything, with the joins around it, and to list its files
_GROUPING_S = 0.16  # one more stage
_STEP_S = 0.1  # to write a table, and drop it
_VALUES_PER_S = 48e6  # read and compared
_AGGREGATED_PER_S = 19e6  # values
_EXCHANGED_PER_S = 6e6  # rows of both sides of a join of large relations
_STATE_BYTES_PER_S = 25e6  # written, or joined with its changes
# About how often the bytes of the state are read: three times by a merge, with an exchange.
_STATE_READS = {"append": 0.0, "rewrite": 1.0, "replace": 0.4, "merge": 3.3, "recompute": 1.0, "full": 1.0}
# If changes are spread over all keys, their joins read whole tables, once per term. For large tables we then
# rebuild, whatever the estimate says.
_MORE_BYTES = 1.1
_LARGE_BYTES = 256 << 20
# A rebuild changes each row for the views above, so it has to be clearly cheaper.
_PLAINLY = 1.1
_UNKNOWN_RANGES = KeyRanges()


@dataclass(frozen=True)
class Work:
    """What Spark does to compute rows, without writing the state. A relation counts at each use, because
    Spark plans and computes it each time.
    """

    feeds: int = 0  # reads of a source's changes
    reads: int = 0  # of anything that is not in memory
    groupings: int = 0
    steps: int = 0  # tables for parts of a large plan
    values: float = 0.0  # of tables: rows by columns
    aggregated: float = 0.0  # grouped rows, times the result's columns
    exchanged: float = 0.0  # rows of joins without a side that is small enough to broadcast
    bytes: float = 0.0  # of tables

    def __add__(self, other: Work) -> Work:
        return Work(*map(add, vars(self).values(), vars(other).values()))

    @property
    def seconds(self) -> float:
        return self.fixed_s + self.reading_s

    @property
    def fixed_s(self) -> float:
        """Seconds for any number of rows."""
        return (
            _FEED_S * self.feeds + _READ_S * self.reads + _GROUPING_S * self.groupings + _STEP_S * self.steps
        )

    @property
    def reading_s(self) -> float:
        """Seconds that grow with the rows."""
        return (
            self.values / _VALUES_PER_S
            + self.aggregated / _AGGREGATED_PER_S
            + self.exchanged / _EXCHANGED_PER_S
        )


@dataclass(frozen=True)
class Factors:
    """A refresh's real time divided by the estimate."""

    changes: float = 1.0
    full: float = 1.0


@dataclass(frozen=True)
class Estimate:
    """Seconds by the formula; only their ratio has a meaning.

    factors  corrections from the view's earlier refreshes
    """

    incremental_s: float
    full_s: float
    from_changes: Work
    in_full: Work
    # how often the changes of a source, and its newest rows, will be read
    changes_read: Mapping[str, int]
    rows_read: Mapping[str, int]
    factors: Factors = Factors()

    @property
    def expected_s(self) -> float:
        """Seconds from changes, corrected."""
        return self.incremental_s * self.factors.changes

    @property
    def expected_full_s(self) -> float:
        return self.full_s * self.factors.full

    @property
    def prefers_full(self) -> bool:
        """Whether a rebuild takes less time or reads less."""
        return self.expected_s > _PLAINLY * self.expected_full_s or self._reads_more

    @property
    def prefers_full_at_best(self) -> bool:
        """The same if no rows of tables had to be read."""
        at_best_s = (self.incremental_s - self.from_changes.reading_s) * self.factors.changes
        return at_best_s > _PLAINLY * self.expected_full_s

    @property
    def _reads_more(self) -> bool:
        more_bytes = self.from_changes.bytes - _MORE_BYTES * self.in_full.bytes
        return more_bytes > _LARGE_BYTES

    def __str__(self) -> str:
        text = f"estimated {self.expected_s:.1f} s from changes, {self.expected_full_s:.1f} s in full"
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
    sizes: Sizes,
    ranges: KeyRanges = _UNKNOWN_RANGES,
    factors: Factors = Factors(),
) -> Estimate:
    """Compare the change with computing `core` again; `tables` and `changes` by the key of the source.

    ranges  of the changed keys, if known
    """
    changes_read, rows_read = Counter[str](), Counter[str]()
    for leaf, uses in chain.from_iterable(map(leaves_when_inlined, change.parts)):
        if isinstance(leaf, ra.Changes):
            changes_read[leaf.table] += uses
        elif isinstance(leaf, ra.Scan) and leaf.at is At.NEW and leaf.table in tables:
            rows_read[leaf.table] += uses
    kept_changes = {
        key for key, uses in changes_read.items() if changes[key].kept or keeps_changes(changes[key], uses)
    }
    kept_rows = {key for key, uses in rows_read.items() if keeps_rows(tables[key], uses)}

    from_changes = _read_into_memory(tables, {key: changes[key] for key in kept_changes})
    for steps, read in cut_into_steps(change, sizes, ranges, kept_changes):
        from_changes += _Count(tables, changes, read, kept_changes, kept_rows).work(steps)
    in_full = _in_full(core, tables, sizes)
    staging_s, size = _STAGING_S if change.staged is not None else 0.0, state.size_bytes or 0
    written_s = _state_s(change.form, size)
    if change.form == "merge" and not STATE_FORMATS[state.kind].replaces_parts:
        written_s += _state_s("full", size)  # copy-on-write: the files are written again
    return Estimate(
        from_changes.seconds + staging_s + written_s,
        in_full.seconds + _state_s("full", size),
        from_changes,
        in_full,
        changes_read,
        rows_read,
        factors,
    )


def cut_into_steps(
    change: StateChange, sizes: Sizes, ranges: KeyRanges, kept: Collection[str]
) -> Iterator[tuple[Steps, Sizes]]:
    """Each part of a change as its statements compute it, and the sizes of what it reads.

    kept  sources whose changes are in memory
    """
    names = step_names()
    for part in change.parts:
        read = sizes.within(ranges.parts(part, change.staged))
        yield in_steps(part, names, kept=kept, sizes=read), read


def rebuild_s(core: Relation, size_bytes: float, tables: Mapping[str, RelationFacts]) -> float:
    """Estimated seconds to compute `core` into a state of this size."""
    sizes = Sizes({key: estimated_rows(facts) for key, facts in tables.items()})
    return _in_full(core, tables, sizes).seconds + _state_s("full", size_bytes)


def _in_full(core: Relation, tables: Mapping[str, RelationFacts], sizes: Sizes) -> Work:
    return _Count(tables, {}, sizes, frozenset(), frozenset()).work(Steps((), core))


def is_worth_keeping(aggregate: ra.Aggregate, whole: Relation, tables: Mapping[str, RelationFacts]) -> bool:
    """Whether reading the rows of some groups again takes longer than refreshing a view of all groups.

    whole  the plan that the aggregate is part of
    """
    rows = {key: estimated_rows(facts) for key, facts in tables.items()}
    count = _Count(tables, {}, Sizes(rows), frozenset(), frozenset())
    work = count.work(Steps((), aggregate.input))
    again_s = _READ_S * work.reads + work.values / _VALUES_PER_S + work.exchanged / _EXCHANGED_PER_S
    distinct = distinct_values(whole, rows)
    most = sum(rows[key] for key in aggregate.tables)
    groups = min(most, math.prod(distinct.get(key, most) for key in aggregate.keys))
    size = groups * BYTES_PER_FIELD * len(aggregate.columns)
    form = "append" if size <= SMALL_STATE_BYTES else "replace"
    staging_s = _STAGING_S if form == "replace" else 0.0
    return again_s > _FEED_S + staging_s + _state_s(form, size)


def _state_s(form: str, size_bytes: float) -> float:
    return _FIXED_S[form] + _STATE_READS[form] * size_bytes / _STATE_BYTES_PER_S


def _read_into_memory(tables: Mapping[str, RelationFacts], changes: Mapping[str, SourceChange]) -> Work:
    new = {key: change for key, change in changes.items() if not change.kept}
    scanned = sum(change.scans * estimated_bytes(tables[key]) for key, change in new.items())
    return Work(feeds=len(new), bytes=scanned)


class _Count:
    """Counts the work of one plan.

    sizes         of the parts of tables that the plan reads
    kept_changes  sources whose changes are in memory
    kept_rows     sources whose rows are in memory
    """

    def __init__(
        self,
        tables: Mapping[str, RelationFacts],
        changes: Mapping[str, SourceChange],
        sizes: Sizes,
        kept_changes: Collection[str],
        kept_rows: Collection[str],
    ) -> None:
        self._tables, self._changes, self._sizes = tables, changes, sizes
        self._kept_changes, self._kept_rows = kept_changes, kept_rows

    def work(self, steps: Steps) -> Work:
        total = Work(steps=len(steps.tables))
        for step in steps.tables:
            work, rows = self._of_statement(step.relation)
            total += work
            self._sizes = Sizes({**self._sizes.rows, step.name: rows}, self._sizes.changed)
        return total + self._of_statement(steps.rest)[0]

    def _of_statement(self, relation: Relation) -> tuple[Work, float]:
        """The work, and the number of resulting rows."""
        rows = self._rows_of(relation)
        work = sum((self._of_node(node, uses, rows) for node, uses in uses_when_inlined(relation)), Work())
        return work, rows(relation)

    def _of_node(self, node: Relation, uses: int, rows: Callable[[Relation], float]) -> Work:
        node = operator(node)
        match node:
            case ra.Changes() if node.table in self._kept_changes:
                return Work()
            case ra.Scan() if node.table in self._kept_rows:
                return Work()
            case ra.Changes():
                scanned = self._changes[node.table].scans * estimated_bytes(self._tables[node.table])
                return Work(feeds=uses, reads=uses, bytes=uses * scanned)
            case ra.Scan() if node.table in self._tables:
                facts = self._tables[node.table]
                # We assume equally wide columns.
                columns = len({field for _, field in node.fields})
                values = uses * rows(node) * columns
                row_bytes = estimated_bytes(facts) / estimated_rows(facts)
                return Work(reads=uses, values=values, bytes=values * row_bytes / max(1, len(facts.fields)))
            case ra.Scan():
                return Work(reads=uses)
            case ra.Aggregate():
                return Work(groupings=uses, aggregated=uses * rows(node.input) * (1 + len(node.calls)))
            case ra.Consolidate():
                return Work(groupings=uses)
            case ra.InnerJoin() | ra.LeftJoin() | ra.SemiJoin() | ra.FullJoin():
                large = [count for count in map(rows, node.children) if count > BROADCAST_ROWS]
                return Work(exchanged=uses * sum(large)) if len(large) > 1 else Work()
            case ra.OneRow() | ra.Empty() | ra.Filter() | ra.Project() | ra.Generate() | ra.Repeat():
                return Work()
            case ra.UnionAll() | ra.Window() | ra.Slice() | ra.Weigh() | ra.Copies() | ra.Unweigh():
                return Work()
            case ra.Restricted():
                return Work()
            case _:
                raise no_rule(node)

    def _rows_of(self, statement: Relation) -> Callable[[Relation], float]:
        """Rows of each part, at most those of the largest relation that it reads."""
        estimate = RowEstimate(self._sizes, distinct_values(statement, self._sizes.rows))
        most: dict[int, float] = {}
        for node in statement.walk():  # children first
            most[id(node)] = max((most[id(child)] for child in node.children), default=estimate(node))
        return lambda node: min(estimate(node), most[id(node)])
