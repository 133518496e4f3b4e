"""Which rows of a table a plan can need: those with keys between the smallest and the largest changed one.

A lookup of changed keys in a large table reads all of its files, as Delta skips files by literals only, and
the keys are known when the changes have been read. Where all lookups of a table take their keys from changes,
its rows outside the range of these keys are needed by nobody, and can be left out by a literal condition.
Orders that changed are mostly young ones, and lie in few files.

Law: a plan gives the same rows if a table is cut down to the rows for which one of its `Need`s holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain

from sparkivm.algebra import (
    Aggregate,
    At,
    Changes,
    Consolidate,
    Empty,
    Filter,
    InnerJoin,
    JoinCondition,
    Keys,
    LeftJoin,
    Pair,
    Project,
    Relation,
    Restricted,
    Scalar,
    Scan,
    SemiJoin,
    Slice,
    UnionAll,
    Unweigh,
    Weigh,
)
from sparkivm.algebra.scalar import conjunction, disjunction, integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.state import STAGED


@dataclass(frozen=True)
class ChangedColumn:
    """A column of the rows that changed in a table."""

    table: str
    field: str


@dataclass(frozen=True)
class Within:
    """`column` has a value of one of `changed`; with `or_null`, or is NULL."""

    column: str
    changed: frozenset[ChangedColumn]
    or_null: bool


# A larger part of a table is not worth a condition.
_LARGEST_SHARE = 0.5
# Numbers of keys are mostly given out one after the other, with gaps, and meet some rows each.
_ROWS_PER_NUMBER = 8.0

# What is true of the rows that one of a table's readers needs: all of it, by fields of the table.
Need = frozenset[Within]


def needs(relation: Relation, staged: Relation | None = None) -> dict[str, frozenset[Need]]:
    """The needs of each table's readers; one that reads all rows has the empty need.

    staged  what the plan reads as the table STAGED
    """
    found = _Needs(staged)
    found.visit(relation, frozenset())
    return {table: frozenset(all_of_them) for table, all_of_them in found.by_table.items()}


@dataclass(frozen=True)
class Span:
    """The whole numbers from `low` to `high`."""

    low: int
    high: int

    def share(self, rows: float) -> float:
        """The part of so many rows that have a number of this span, roughly."""
        return min(1.0, _ROWS_PER_NUMBER * (self.high - self.low + 1) / rows)


@dataclass(frozen=True)
class KeyRanges:
    """What is known of columns of whole numbers.

    changed  spans of changed columns; None of one without a value
    rows     of large tables, about, for each of their columns of whole numbers; others are not looked at
    """

    changed: Mapping[ChangedColumn, Span | None] = field(default_factory=dict)
    rows: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def parts(self, relation: Relation, staged: Relation | None = None) -> dict[str, TablePart]:
        """The parts of tables in which a plan finds all that it needs, where they are small."""
        found = {
            table: self._part(table, alternatives) for table, alternatives in needs(relation, staged).items()
        }
        return {table: part for table, part in found.items() if part and part.share <= _LARGEST_SHARE}

    def _part(self, table: str, alternatives: frozenset[Need]) -> TablePart | None:
        conditions, share = [], 0.0
        for need in alternatives:
            usable = [
                one for one in need if (table, one.column) in self.rows and one.changed <= self.changed.keys()
            ]
            if not usable:
                return None
            spans = [(one, self._span(one)) for one in usable]
            conditions.append(conjunction(_between(one, span) for one, span in spans))
            share += min(span.share(self.rows[table, one.column]) if span else 0.0 for one, span in spans)
        return TablePart(disjunction(sorted(set(filter(None, conditions)), key=repr)), share)

    def _span(self, one: Within) -> Span | None:
        spans = [span for column in one.changed if (span := self.changed[column]) is not None]
        return Span(min(s.low for s in spans), max(s.high for s in spans)) if spans else None


@dataclass(frozen=True)
class TablePart:
    """The rows of a table for which `condition` is true: about so large a share of it."""

    condition: Scalar
    share: float


def _between(one: Within, span: Span | None) -> Scalar:
    nothing = "c is null" if one.or_null else "false"
    if span is None:
        return expression(nothing, c=one.column)
    text = "c between low and high" + (f" or {nothing}" if one.or_null else "")
    return expression(text, c=one.column, low=integer(span.low), high=integer(span.high))


class _Needs:
    def __init__(self, staged: Relation | None) -> None:
        self.by_table: dict[str, set[Need]] = {}
        self._staged = staged
        self._visited: set[tuple[int, Need]] = set()
        self._origins: dict[tuple[int, str], frozenset[ChangedColumn] | None] = {}

    def visit(self, node: Relation, wanted: Need) -> None:
        """Go down with what is true of the rows of `node` that are needed."""
        if (id(node), wanted) in self._visited:
            return
        self._visited.add((id(node), wanted))
        if isinstance(node, Scan):
            if node.at is At.NEW:
                fields = dict(node.fields)
                need = frozenset(replace(one, column=fields[one.column]) for one in wanted)
                self.by_table.setdefault(node.table, set()).add(need)
            return
        for child, passed_on in self._below(node, wanted):
            self.visit(child, frozenset(one for one in passed_on if one.column in child.columns))

    def _below(self, node: Relation, wanted: Need) -> Iterator[tuple[Relation, Iterable[Within]]]:
        """Each child, and what is true of those of its rows that are needed."""
        match node:
            case Filter() | Weigh() | Consolidate() | Unweigh():
                yield node.input, wanted
            case Project():
                source = {name: scalar.as_column for name, scalar in node.items}
                yield node.input, [replace(w, column=of) for w in wanted if (of := source[w.column])]
            case UnionAll():
                yield from ((child, wanted) for child in node.inputs)
            case Aggregate():
                yield node.input, [one for one in wanted if one.column in node.keys]
            case InnerJoin():
                for child in node.inputs:
                    met = (
                        self._met(other, _pairs(node, child, other), wanted)
                        for other in node.inputs
                        if other is not child
                    )
                    yield child, chain(wanted, *met)
            case SemiJoin() | LeftJoin():
                matched = isinstance(node, SemiJoin) and not node.anti
                yield node.left, [*wanted, *(self._met(node.right, node.on.pairs) if matched else ())]
                yield node.right, self._met(node.left, node.on.flipped.pairs, wanted)
            case Restricted():
                among = () if node.excluded else _null_safe(node.keys)
                yield node.input, [*wanted, *self._met(node.keys.source, among)]
                yield node.keys.source, ()
            case Slice():
                for lookup in node.lookups:
                    yield node.input, [*wanted, *self._met(lookup.keys, lookup.pairs)]
                    yield lookup.keys, ()
            case _:
                yield from ((child, ()) for child in node.children)

    def _met(self, other: Relation, pairs: Iterable[Pair], wanted: Iterable[Within] = ()) -> Iterator[Within]:
        """What is true of rows that match a row of `other` of which `wanted` is true.

        pairs  of (mine, other's)
        """
        for pair in pairs:
            changed = self._origin(other, pair.right)
            if changed is not None:
                yield Within(pair.left, changed, pair.null_safe)
            for one in wanted:
                if one.column == pair.right:
                    yield Within(pair.left, one.changed, one.or_null and pair.null_safe)

    def _origin(self, node: Relation, column: str) -> frozenset[ChangedColumn] | None:
        """Changed columns that have every value of a column, NULL aside; None if there are others."""
        key = (id(node), column)
        if key not in self._origins:
            self._origins[key] = self._traced(node, column)
        return self._origins[key]

    def _traced(self, node: Relation, column: str) -> frozenset[ChangedColumn] | None:
        match node:
            case Changes():
                return frozenset({ChangedColumn(node.table, dict(node.fields)[column])})
            case Scan() if node.table == STAGED and self._staged is not None:
                return self._origin(self._staged, dict(node.fields)[column])
            case Filter() | Weigh() | Consolidate() | Unweigh() if column in node.input.columns:
                return self._origin(node.input, column)
            case Aggregate() if column in node.keys:
                return self._origin(node.input, column)
            case Project():
                source = dict(node.items)[column].as_column
                return self._origin(node.input, source) if source else None
            case UnionAll():
                found = [self._origin(child, column) for child in node.inputs]
                known = [one for one in found if one is not None]
                return frozenset().union(*known) if len(known) == len(found) else None
            case Empty():
                return frozenset()
            case InnerJoin():
                return self._of_a_join(node, column)
            case LeftJoin():
                return self._origin(node.left if column in node.left.columns else node.right, column)
            case SemiJoin():
                return self._origin(node.left, column)
            case Restricted():
                among = {pair.left: pair.right for pair in _null_safe(node.keys)} if not node.excluded else {}
                own = self._origin(node.input, column)
                return (
                    self._origin(node.keys.source, among[column]) if own is None and column in among else own
                )
            case _:
                return None

    def _of_a_join(self, node: InnerJoin, column: str) -> frozenset[ChangedColumn] | None:
        (owner,) = (child for child in node.inputs if column in child.columns)
        own = self._origin(owner, column)
        equal = (
            self._origin(other, pair.right)
            for other in node.inputs
            if other is not owner
            for pair in _pairs(node, owner, other)
            if pair.left == column
        )
        return next((one for one in (own, *equal) if one is not None), None)


def _pairs(join: InnerJoin, one: Relation, other: Relation) -> tuple[Pair, ...]:
    return JoinCondition.of(join.predicates, one.columns, other.columns).pairs


def _null_safe(keys: Keys) -> tuple[Pair, ...]:
    return tuple(Pair(column, key, null_safe=True) for column, key in keys.pairs)
