"""The order of the joins in a delta: from the delta outwards, the small side broadcast.

Spark keeps the order in which a delta's joins are written, and takes the size of a change feed for 8 EiB,
so it would never broadcast one. Any order and any hint is right; this only decides the cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sparkivm.algebra import (
    Aggregate,
    Changes,
    Empty,
    Filter,
    InnerJoin,
    LeftJoin,
    Relation,
    Restricted,
    Scalar,
    Scan,
    SemiJoin,
    UnionAll,
)
from sparkivm.algebra.relation import rewrite
from sparkivm.plan.state import STAGED

# Rows of a relation that is sent to every task.
BROADCAST_ROWS = 500_000
# A table of at most this many rows is sent rather than the delta that it meets, which is not collected then.
_SMALL_TABLE_ROWS = 200_000
_FILTER_KEEPS = 0.5
_ROWS_PER_KEY = 4.0
_UNKNOWN_ROWS = 1e6


@dataclass(frozen=True)
class Sizes:
    """Estimated rows of the sources, and how many of them changed."""

    rows: Mapping[str, float]
    changed: Mapping[str, float]


def order_joins(relation: Relation, sizes: Sizes) -> Relation:
    """The same relation, its joins in a cheap order and with hints."""
    estimate = RowEstimate(sizes)

    def change(node: Relation) -> Relation:
        match node:
            case InnerJoin():
                return _ordered(node, estimate)
            case LeftJoin() | SemiJoin():
                return replace(node, broadcast_right=estimate(node.right) <= BROADCAST_ROWS)
            case Restricted():
                return replace(node, broadcast=estimate(node.keys.source) <= BROADCAST_ROWS)
            case _:
                return node

    return rewrite(relation, change)


def _ordered(node: InnerJoin, estimate: RowEstimate) -> Relation:
    """Left-deep, next the smallest input that a predicate connects. The columns' order changes."""
    waiting = sorted(node.inputs, key=estimate)
    current = next((child for child in waiting if _reads_changes(child)), None)
    if current is None or estimate(current) > BROADCAST_ROWS:
        return node
    waiting.remove(current)
    predicates = list(node.predicates)
    while waiting:
        nearest = _next(frozenset(current.columns), waiting, predicates)
        waiting.remove(nearest)
        both = frozenset((*current.columns, *nearest.columns))
        ready = tuple(p for p in predicates if p.columns <= both)
        predicates = [p for p in predicates if p not in ready]
        current = InnerJoin((current, nearest), ready, _smaller(estimate(current), estimate(nearest)))
    return current


def _next(known: frozenset[str], waiting: Sequence[Relation], predicates: Sequence[Scalar]) -> Relation:
    """The input to join next; `waiting` is sorted by size.

    One that later predicates narrow down further waits for them: two tables that meet in a third one's column
    (customers and suppliers of one nation) would otherwise be multiplied with each other.
    """
    connected = []
    for child in waiting:
        columns = frozenset(child.columns)
        mine = [p for p in predicates if p.columns & columns]
        if any(p.columns & known for p in mine):
            connected.append((sum(not p.columns <= known | columns for p in mine), child))
    return min(connected, key=lambda pair: pair[0])[1] if connected else waiting[0]


def _reads_changes(relation: Relation) -> bool:
    return any(
        isinstance(node, Changes) or (isinstance(node, Scan) and node.table == STAGED)
        for node in relation.walk()
    )


def _smaller(current: float, other: float) -> int | None:
    """Index of the side to broadcast."""
    if other <= _SMALL_TABLE_ROWS or (other <= current and other <= BROADCAST_ROWS):
        return 1
    return 0 if current <= BROADCAST_ROWS else None


class RowEstimate:
    """Rows of a relation, roughly: a delta is small, what is joined or restricted by it stays small."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes
        self._known: dict[int, tuple[Relation, float]] = {}

    def __call__(self, relation: Relation) -> float:
        known = self._known.get(id(relation))
        if known is None:
            known = self._known[id(relation)] = (relation, self._rows(relation))
        return known[1]

    def _rows(self, relation: Relation) -> float:
        match relation:
            case Changes():
                return self._sizes.changed.get(relation.table, _UNKNOWN_ROWS)
            case Scan():
                return self._sizes.rows.get(relation.table, _UNKNOWN_ROWS)
            case Empty():
                return 0.0
            case Filter():
                return self(relation.input) * _FILTER_KEEPS
            case UnionAll():
                return sum(map(self, relation.inputs))
            case InnerJoin():
                return self._joined(relation)
            case LeftJoin() | SemiJoin():
                return self(relation.left)
            case Restricted() if not relation.excluded:
                return min(self(relation.input), self(relation.keys.source) * _ROWS_PER_KEY)
            case Aggregate() if not relation.keys:
                return 1.0
            case _:
                return max((self(child) for child in relation.children), default=1.0)

    def _joined(self, relation: InnerJoin) -> float:
        rows = list(map(self, relation.inputs))
        if not relation.predicates:
            return math.prod(max(count, 1.0) for count in rows)
        # A row of a delta meets a few others; whole tables are as many as the largest one (foreign keys).
        small = [count for count, child in zip(rows, relation.inputs, strict=True) if _reads_changes(child)]
        return min([max(rows), *(count * _ROWS_PER_KEY for count in small)])
