"""The order of the joins in a delta: from the delta outwards, the small side broadcast.

Spark keeps the order in which a delta's joins are written, and estimates a change feed at 8 EiB, so it would
never broadcast one. Any order and any hint is correct; they only affect cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from sparkivm import algebra as ra
from sparkivm.algebra import Relation, Scalar, operator
from sparkivm.algebra.memo import memoized
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import equality
from sparkivm.errors import no_rule
from sparkivm.plan.distinct_values import distinct_values
from sparkivm.plan.key_ranges import TablePart
from sparkivm.plan.state import STAGED

# Up to this many rows a relation is broadcast.
BROADCAST_ROWS = 500_000
# A table of at most this many rows is broadcast instead of the delta, which is then not collected.
_SMALL_TABLE_ROWS = 200_000
_FILTER_KEEPS = 0.5
_ROWS_PER_KEY = 4.0
_UNKNOWN_ROWS = 1e6


@dataclass(frozen=True)
class Sizes:
    """Estimated rows of the sources, and of their changes."""

    rows: Mapping[str, float] = field(default_factory=dict)
    changed: Mapping[str, float] = field(default_factory=dict)

    def within(self, parts: Mapping[str, TablePart]) -> Sizes:
        """The sizes for a plan that reads only parts of tables."""
        shares = {key: part.share for key, part in parts.items()}
        return replace(self, rows={key: n * shares.get(key, 1.0) for key, n in self.rows.items()})


def order_joins(relation: Relation, sizes: Sizes) -> Relation:
    """The same relation, with its joins in a cheap order and with hints."""
    estimate = RowEstimate(sizes, distinct_values(relation, sizes.rows))

    def change(node: Relation) -> Relation:
        match node:
            case ra.InnerJoin():
                return _ordered(node, estimate)
            case ra.LeftJoin() | ra.SemiJoin():
                return replace(node, broadcast_right=estimate(node.right) <= BROADCAST_ROWS)
            case ra.Restricted():
                return replace(node, broadcast=estimate(node.keys.source) <= BROADCAST_ROWS)
            case _:
                return node

    return rewrite(relation, change)


def _ordered(node: ra.InnerJoin, estimate: RowEstimate) -> Relation:
    """Left-deep; the next input is the one with the fewest matches per row. Columns change their order."""
    waiting = sorted(node.inputs, key=estimate)
    current = next((child for child in waiting if estimate.reads_changes(child)), None)
    if current is None or estimate(current) > BROADCAST_ROWS:
        return node
    waiting.remove(current)
    predicates = list(node.predicates)
    while waiting:
        nearest = _next(frozenset(current.columns), waiting, predicates, estimate)
        waiting.remove(nearest)
        both = frozenset((*current.columns, *nearest.columns))
        ready = tuple(p for p in predicates if p.columns <= both)
        predicates = [p for p in predicates if p not in ready]
        current = ra.InnerJoin((current, nearest), ready, _smaller(estimate(current), estimate(nearest)))
    return current


def _next(
    known: frozenset[str], waiting: Sequence[Relation], predicates: Sequence[Scalar], estimate: RowEstimate
) -> Relation:
    """The input to join next; `waiting` is sorted by size.

    Among equals, an input that later predicates restrict further comes last.
    """
    connected = []
    near = frozenset[str]().union(*(p.columns for p in predicates if p.columns & known))
    for child in waiting:
        columns = frozenset(child.columns)
        if columns & near:
            mine = [p for p in predicates if p.columns & columns]
            usable = [p for p in mine if p.columns <= known | columns]
            connected.append((estimate.met_by_a_row(child, usable), len(mine) - len(usable), child))
    return min(connected, key=lambda found: found[:2])[2] if connected else waiting[0]


def _smaller(current: float, other: float) -> int | None:
    """Index of the side to broadcast."""
    if other <= _SMALL_TABLE_ROWS or (other <= current and other <= BROADCAST_ROWS):
        return 1
    return 0 if current <= BROADCAST_ROWS else None


class RowEstimate:
    """A rough row count: a delta is small, and so is what is joined to it or restricted by it."""

    def __init__(self, sizes: Sizes, values: Mapping[str, float] = MappingProxyType({})) -> None:
        """`values` counts the distinct values of columns."""
        self._sizes = sizes
        self._values = values

    @memoized
    def reads_changes(self, relation: Relation) -> bool:
        """Whether a relation reads changes, so that it may be small even if tables are large."""
        staged = isinstance(relation, ra.Scan) and relation.table == STAGED
        return staged or isinstance(relation, ra.Changes) or any(map(self.reads_changes, relation.children))

    def met_by_a_row(self, child: Relation, predicates: Sequence[Scalar]) -> float:
        """How many rows of `child` match one row under predicates that compare the two."""
        rows = self(child)
        return rows * self._kept(predicates, rows)

    @memoized
    def __call__(self, relation: Relation) -> float:
        relation = operator(relation)
        match relation:
            case ra.Changes():
                return self._sizes.changed.get(relation.table, _UNKNOWN_ROWS)
            case ra.Scan():
                return self._sizes.rows.get(relation.table, _UNKNOWN_ROWS)
            case ra.Empty():
                return 0.0
            case ra.OneRow():
                return 1.0
            case ra.Filter():
                return self(relation.input) * _FILTER_KEEPS
            case ra.UnionAll():
                return sum(map(self, relation.inputs))
            case ra.InnerJoin():
                return self._joined(relation)
            case ra.LeftJoin() | ra.SemiJoin():
                return self(relation.left)
            case ra.Restricted() if not relation.excluded:
                return min(self(relation.input), self(relation.keys.source) * _ROWS_PER_KEY)
            case ra.Slice():
                asked = sum(self(lookup.keys) for lookup in relation.lookups)
                return min(self(relation.input), asked * _ROWS_PER_KEY)
            case ra.Aggregate() if not relation.keys:
                return 1.0
            case ra.FullJoin() | ra.Restricted():
                return max(map(self, relation.children))
            case ra.Project() | ra.Generate() | ra.Repeat() | ra.Window() | ra.Aggregate():
                return self(relation.input)
            case ra.Weigh() | ra.Consolidate() | ra.Copies() | ra.Unweigh():
                return self(relation.input)
            case _:
                raise no_rule(relation)

    def _joined(self, relation: ra.InnerJoin) -> float:
        rows = list(map(self, relation.inputs))
        if not relation.predicates:
            return math.prod(max(count, 1.0) for count in rows)
        # Joined tables have as many rows as the largest (foreign keys); a row of a delta matches several.
        if not any(map(self.reads_changes, relation.inputs)):
            return max(rows)
        return max(
            1.0, math.prod(max(count, 1.0) for count in rows) * self._kept(relation.predicates, max(rows))
        )

    def _kept(self, predicates: Sequence[Scalar], rows: float) -> float:
        """The share of row combinations that satisfy the equalities; `rows` serves if values are unknown."""
        share = 1.0
        for left, right, _ in filter(None, map(equality, predicates)):
            share /= max(1.0, self._values.get(left) or self._values.get(right) or rows / _ROWS_PER_KEY)
        return share
