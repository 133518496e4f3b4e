"""Affected keys, and the columns of a relation that they restrict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sparkivm.algebra.join_condition import Pair
from sparkivm.algebra.relation import Relation


@dataclass(frozen=True)
class Keys:
    """`pairs` of (column of the restricted relation, column of `source`), compared null-safely.

    The rows of `source` are the keys; their order, number and weights do not matter.
    """

    source: Relation
    pairs: tuple[tuple[str, str], ...]

    @staticmethod
    def of(source: Relation, pairs: Iterable[tuple[str, str]]) -> Keys:
        return Keys(source, tuple(pairs))

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(column for column, _ in self.pairs)

    @property
    def comparisons(self) -> tuple[Pair, ...]:
        return tuple(Pair(column, key, null_safe=True) for column, key in self.pairs)

    def within(self, columns: Iterable[str]) -> Keys:
        """The pairs that restrict `columns`. Fewer pairs keep more rows, never too few."""
        wanted = frozenset(columns)
        return Keys(self.source, tuple(pair for pair in self.pairs if pair[0] in wanted))

    def renamed(self, names: Mapping[str, str]) -> Keys:
        return Keys(self.source, tuple((names[column], key) for column, key in self.pairs))

    def across(self, equalities: Iterable[tuple[str, str]]) -> Keys:
        """The keys copied along (restricted column, equal column of another relation)."""
        by_column = dict(self.pairs)
        return Keys(
            self.source, tuple((other, by_column[mine]) for mine, other in equalities if mine in by_column)
        )

    def __bool__(self) -> bool:
        return bool(self.pairs)
