"""The part of a table that contains all rows a plan needs: between the outermost changed keys.

A lookup of changed keys in a large table reads all of its files, because Delta skips files only by literals,
and the keys are known only after the changes have been read. So we cut out the needed rows by the smallest
and the largest of these keys, as literals. Changed orders are mostly recent, and lie in few files.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from sparkivm.algebra import Relation, Scalar
from sparkivm.algebra.scalar import conjunction, disjunction, integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.needed_rows import ChangedColumn, Need, Within, needs

# Conditions for larger parts of a table do not pay.
_LARGEST_SHARE = 0.5
# Keys are mostly assigned in sequence, with gaps, and each matches several rows.
_ROWS_PER_NUMBER = 8.0
# If the largest key is at most this many times the number of keys, most numbers up to it are keys.
_DENSE = 1.2


@dataclass(frozen=True)
class Span:
    """The integers from `low` to `high`, both included."""

    low: int
    high: int

    def share(self, rows: float, numbers: float = math.inf) -> float:
        """The rough share of `rows` with a key in this span; `numbers` is the most keys there may be."""
        width = self.high - self.low + 1
        found = _ROWS_PER_NUMBER * width / rows
        if self.low >= 0 and self.high <= _DENSE * numbers < math.inf:
            found = max(found, width / numbers)
        return min(1.0, found)


@dataclass(frozen=True)
class KeyRanges:
    """Known facts about integer columns.

    changed  spans of changed columns; None for a column without values
    rows     approximate rows of large tables, for each integer column; other columns are ignored
    numbers  how many values such a column may have, if it is compared with one of a smaller table
    """

    changed: Mapping[ChangedColumn, Span | None] = field(default_factory=dict)
    rows: Mapping[tuple[str, str], float] = field(default_factory=dict)
    numbers: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def parts(self, relation: Relation, staged: Relation | None = None) -> dict[str, TablePart]:
        """The parts of tables that contain all rows a plan needs, if they are small."""
        if not self.rows:
            return {}
        found = {
            table: self._part(table, alternatives) for table, alternatives in needs(relation, staged).items()
        }
        return {table: part for table, part in found.items() if part and part.share <= _LARGEST_SHARE}

    def _part(self, table: str, alternatives: frozenset[Need]) -> TablePart | None:
        found = set[_Box]()
        for need in alternatives:
            usable = [
                one for one in need if (table, one.column) in self.rows and one.changed <= self.changed.keys()
            ]
            if not usable:
                return None
            found.add(self._box(usable))
        # A table's readers mostly need the same rows, or a subset of these.
        boxes = [one for one in found if not any(o is not one and _covers(o, one) for o in found)]
        share = sum(min(self._share(table, interval) for interval in box) for box in boxes)
        conditions = (conjunction(i.condition for i in sorted(box, key=repr)) for box in boxes)
        return TablePart(disjunction(sorted(filter(None, conditions), key=repr)), share)

    def _share(self, table: str, interval: _Interval) -> float:
        key = (table, interval.column)
        numbers = self.numbers.get(key, math.inf)
        return interval.span.share(self.rows[key], numbers) if interval.span else 0.0

    def _box(self, need: list[Within]) -> _Box:
        return frozenset(
            self._interval(column, [one for one in need if one.column == column])
            for column in {one.column for one in need}
        )

    def _interval(self, column: str, all_of: list[Within]) -> _Interval:
        or_null = all(one.or_null for one in all_of)
        spans = list(map(self._span, all_of))
        known = [span for span in spans if span is not None]
        low, high = max((s.low for s in known), default=0), min((s.high for s in known), default=-1)
        if len(known) < len(spans) or low > high:
            return _Interval(column, None, or_null)
        return _Interval(column, Span(low, high), or_null)

    def _span(self, one: Within) -> Span | None:
        spans = [span for column in one.changed if (span := self.changed[column]) is not None]
        return Span(min(s.low for s in spans), max(s.high for s in spans)) if spans else None


@dataclass(frozen=True)
class TablePart:
    """The rows of a table for which `condition` is true, and their estimated share."""

    condition: Scalar
    share: float


@dataclass(frozen=True)
class _Interval:
    """A column has a value in `span`, or, with `or_null`, is NULL."""

    column: str
    span: Span | None
    or_null: bool

    @property
    def condition(self) -> Scalar:
        nothing = "c is null" if self.or_null else "false"
        if self.span is None:
            return expression(nothing, c=self.column)
        text = "c between low and high" + (f" or {nothing}" if self.or_null else "")
        low, high = integer(self.span.low), integer(self.span.high)
        return expression(text, c=self.column, low=low, high=high)

    def covers(self, other: _Interval) -> bool:
        if self.column != other.column or (other.or_null and not self.or_null):
            return False
        if self.span is None or other.span is None:
            return other.span is None
        return self.span.low <= other.span.low and other.span.high <= self.span.high


# A conjunction that holds for the rows that a reader needs; at most one interval per column.
_Box = frozenset[_Interval]


def _covers(one: _Box, other: _Box) -> bool:
    """Whether `one` contains all rows of `other`."""
    return all(any(mine.covers(its) for its in other) for mine in one)
