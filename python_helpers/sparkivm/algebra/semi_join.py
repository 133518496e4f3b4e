"""SEMI and ANTI JOIN: the rows of one side for which the other side has a match, or has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.filter import Filter
from sparkivm.algebra.inner_join import InnerJoin
from sparkivm.algebra.inputs import TwoSides, map_on
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.left_join import touched_left_rows, transition
from sparkivm.algebra.match_counts import counts_by_key, counts_by_row, transition_strategy
from sparkivm.algebra.moment import all_shown
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import Columns, Relation, kept_whole, passed_on
from sparkivm.algebra.scalar import conjunction, equal, is_not_null
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import Empty, negated

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class SemiJoin(TwoSides):
    """A ⋉ B: the rows of A with a match in B; with `anti` A ▷ B, those without. Rows of A are not multiplied.

    delta     d(A ▷ B) = dA ▷ B₁  ⊎  A₀ · T          d(A ⋉ B) = dA ⋉ B₁  ⊎  A₀ · (−T)
              T as in LEFT JOIN: +1 for a row of A that lost its last match, −1 for one that gained its first
    touched   as for LEFT JOIN
    restrict  (A ⋉ B)|K = A|K ⋉ B|K′ with K′ the copy of K along the equal pairs
    tested    tests/laws/test_delta_law.py
    """

    anti: bool = False
    broadcast_right: bool = False  # B is small enough to be broadcast

    bag_inputs = frozenset({1})
    groups = False
    map_scalars = map_on
    pruned = kept_whole

    @property
    def columns(self) -> Columns:
        return self.left.columns

    @property
    def weighted(self) -> bool:
        return self.left.weighted

    @property
    def monotone(self) -> bool:
        return not self.anti  # a match removes a row

    @property
    def at_most_one_row(self) -> bool:
        return self.left.at_most_one_row

    @property
    def label(self) -> str:
        hint = " (broadcast right)" if self.broadcast_right else ""
        return f"{'Anti' if self.anti else 'Semi'}Join {all_shown(self.predicates) or 'true'}{hint}"

    @property
    def strategy(self) -> str:
        return transition_strategy(self.on)

    def delta(self, d: Derivation) -> Relation:
        d_left, d_right = d.delta(self.left), d.delta(self.right)
        right_new = d.looked_up(self.right, Keys.of(d_left, self.on.right_to_left))
        from_left = replace(self, left=d_left, right=right_new)

        left_old = d.old(self.left, only=Keys.of(d_right, self.on.left_to_right))
        if self.on.pairs and not self.on.residual:
            # A NULL key matches nothing, so such rows of B do not count.
            keyed = conjunction(is_not_null(pair.right) for pair in self.on.pairs if not pair.null_safe)
            counts = counts_by_key(d, self.right, Filter(d_right, keyed) if keyed else d_right, self.on)
            equal_keys = tuple(
                equal(pair.left, key, pair.null_safe)
                for pair, key in zip(self.on.pairs, counts.keys, strict=True)
            )
        else:
            counts = counts_by_row(d, self.left, self.right, self.on)
            equal_keys = tuple(
                equal(of, key, null_safe=True) for of, key in zip(counts.of, counts.keys, strict=True)
            )
        turned = only(InnerJoin((left_old, transition(counts)), equal_keys), self.columns)
        return plus(from_left, turned if self.anti else negated(turned))

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        return touched_left_rows(self, columns, d, exact=exact)

    def restrict(self, keys: Keys) -> Relation:
        copied = keys.across(self.on.left_to_right)
        right = self.right.restrict(copied) if copied else self.right
        return replace(self, left=self.left.restrict(keys), right=right)

    def source_of(self, name: str) -> tuple[Relation, str] | None:
        return passed_on(name, self.left)

    def if_empty(self, gone: Sequence[bool]) -> Relation:
        return self.left if self.anti else Empty(self.columns)
