"""FULL JOIN: what it means and how it changes, by LEFT JOIN and ANTI JOIN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkivm.algebra.inputs import TwoSides, map_on
from sparkivm.algebra.left_join import LeftJoin
from sparkivm.algebra.match_counts import transition_strategy
from sparkivm.algebra.moment import all_shown
from sparkivm.algebra.project import padded
from sparkivm.algebra.relation import Relation, from_children, kept_whole
from sparkivm.algebra.restricted import above
from sparkivm.algebra.semi_join import SemiJoin
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import Empty

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class FullJoin(TwoSides):
    """A ⟗ B = (A ⟕ B) ⊎ NULL × (B ▷ A): matches, and every row without a match, padded with NULLs.

    delta     d(A ⟗ B) = d(A ⟕ B) ⊎ NULL × d(B ▷ A)
    restrict  a semi-join on top: a row of one side decides whether a row of the other is padded
    tested    tests/laws/test_delta_law.py
    """

    bag_inputs = frozenset({0, 1})
    groups = False
    weighted = False
    restrict = above
    map_scalars = map_on
    source_of = from_children
    pruned = kept_whole
    monotone = False  # a match removes padding
    at_most_one_row = False

    @property
    def label(self) -> str:
        return f"FullJoin {all_shown(self.predicates) or 'true'}"

    @property
    def strategy(self) -> str:
        return transition_strategy(self.on)

    def delta(self, d: Derivation) -> Relation:
        left_rows = LeftJoin(self.left, self.right, self.on)
        right_only = SemiJoin(self.right, self.left, self.on.flipped, anti=True)
        return plus(d.delta(left_rows), padded(d.delta(right_only), self.columns))

    def if_empty(self, gone: Sequence[bool]) -> Relation:
        if all(gone):
            return Empty(self.columns)
        return padded(self.right if gone[0] else self.left, self.columns)
