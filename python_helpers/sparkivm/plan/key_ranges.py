"""The part of a table in which a plan finds all rows that it needs, between the outermost changed keys.

A lookup of changed keys in a large table reads all of its files, as Delta skips files by literals only, and
the keys are known when the changes have been read. So the rows that are needed are cut out by the smallest
and the largest of these keys, as literals. Orders that changed are mostly young ones, and lie in few files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sparkivm.algebra import Relation, Scalar
from sparkivm.algebra.scalar import conjunction, disjunction, integer
from sparkivm.algebra.sql_expression import expression
from sparkivm.plan.needed_rows import ChangedColumn, Need, Within, needs

# A larger part of a table is not worth a condition.
_LARGEST_SHARE = 0.5
# Numbers of keys are mostly given out one after the other, with gaps, and meet some rows each.
_ROWS_PER_NUMBER = 8.0


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
