"""LEFT JOIN: what it means, how it changes, how it narrows to keys. RIGHT JOIN is its mirror image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.filter import Filter
from sparkivm.algebra.inner_join import InnerJoin
from sparkivm.algebra.inputs import TwoSides, map_on
from sparkivm.algebra.join_condition import JoinCondition, Pair
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.match_counts import (
    TRANSITION,
    TURNED,
    MatchCounts,
    counts_by_key,
    counts_by_row,
    transition_strategy,
)
from sparkivm.algebra.moment import all_shown
from sparkivm.algebra.project import Project, only, padded
from sparkivm.algebra.relation import Columns, Relation, from_children, has_groups, kept_whole
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import column, conjunction, equal, is_not_null
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import Empty, Weigh

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class LeftJoin(TwoSides):
    """A ⟕ B: every row of A with its matches in B, or once with NULLs if B has none.

    delta     d(A ⟕ B) = dA ⟕ B₁  ⊎  A₀ ⋈ dB  ⊎  (A₀ · T) × NULL
              T(a) = [m₁(a) = 0] − [m₀(a) = 0],  mᵢ(a) = number of rows of Bᵢ that match a,  m₀ = m₁ − Σ dB
              If ON is only equal columns, T is a function of the key alone, and the last two terms are one
              join A₀ ⋈ dB⁺,  dB⁺ = dB ⊎ {(k, NULL) with weight T(k)}: A is not read to find T.
              If A is unchanged, B may be B|K with K the keys of A: done if B has groups and A is small.
    touched   columns of A and, if B changed, all equal to columns of B: touched(A) ∪ touched(B), renamed;
              then not the exact values
    restrict  (A ⟕ B)|K = A|K ⟕ B|K′ for K over columns of A, K′ its copy along the equal pairs;
              keys over B stay on top, since all of B decides whether a row is padded
    tested    tests/laws/test_left_join_transition.py; compare Griffin & Kumar 1998
    """

    broadcast_right: bool = False  # B is small enough to be broadcast

    bag_inputs = frozenset({1})
    groups = False
    map_scalars = map_on
    source_of = from_children
    pruned = kept_whole
    monotone = False  # a match removes padding

    @property
    def at_most_one_row(self) -> bool:
        return self.left.at_most_one_row and self.right.at_most_one_row

    @property
    def label(self) -> str:
        hint = " (broadcast right)" if self.broadcast_right else ""
        return f"LeftJoin {all_shown(self.predicates) or 'true'}{hint}"

    @property
    def strategy(self) -> str:
        return transition_strategy(self.on)

    def delta(self, d: Derivation) -> Relation:
        right = self._narrowed_right(d)
        d_left, d_right = d.delta(self.left), d.delta(right)
        right_new = d.looked_up(right, Keys.of(d_left, self.on.right_to_left))
        left_old = d.old(self.left, only=Keys.of(d_right, self.on.left_to_right))
        from_left = LeftJoin(d_left, right_new, self.on)

        if self.on.pairs and not self.on.residual:
            # A NULL key matches nothing, so such rows of B cannot reach the result.
            keyed = conjunction(is_not_null(pair.right) for pair in self.on.pairs if not pair.null_safe)
            matching = Filter(d_right, keyed) if keyed else d_right
            counts = counts_by_key(d, right, matching, self.on)
            copied = [(key, column(of)) for key, of in zip(counts.keys, counts.of, strict=True)]
            rows = Project(matching, (*((name, column(name)) for name in right.columns), *copied))
            padding = padded(transition(counts), (*right.columns, *counts.keys))
            on = zip(self.on.pairs, counts.keys, strict=True)
            matched = InnerJoin(
                (left_old, plus(rows, padding)),
                tuple(equal(pair.left, key, pair.null_safe) for pair, key in on),
            )
            return plus(from_left, only(matched, self.columns))

        matched = InnerJoin((left_old, d_right), self.predicates)
        counts = counts_by_row(d, self.left, right, self.on)
        repadded = InnerJoin(
            (left_old, transition(counts)),
            tuple(equal(of, key, null_safe=True) for of, key in zip(counts.of, counts.keys, strict=True)),
        )
        return plus(from_left, matched, padded(repadded, self.columns))

    def _narrowed_right(self, d: Derivation) -> Relation:
        keys = Keys.of(self.left, self.on.right_to_left)
        if not keys or d.changes(self.left) or not has_groups(self.right):
            return self.right
        return self.right.restrict(keys) if d.narrowing.by_what_stays(self.right, self.left) else self.right

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        return touched_left_rows(self, columns, d, exact=exact)

    def restrict(self, keys: Keys) -> Relation:
        preserved = keys.within(self.left.columns)
        if not preserved:
            return Restricted(self, keys)
        copied = preserved.across(self.on.left_to_right)
        right = self.right.restrict(copied) if copied else self.right
        narrowed = replace(self, left=self.left.restrict(preserved), right=right)
        return narrowed if preserved == keys else Restricted(narrowed, keys)

    def if_empty(self, gone: Sequence[bool]) -> Relation:
        return Empty(self.columns) if gone[0] else padded(self.left, self.columns)


def touched_left_rows(join: TwoSides, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
    """`touched` of rows of A that changed, or whose matches in B may have: they have a touched key of B."""
    equal = dict(join.on.left_to_right)
    if not set(columns) <= set(join.left.columns):
        return None
    if not d.changes(join.right):
        return d.touched(join.left, columns, exact=exact)
    if exact or not set(columns) <= equal.keys():
        return None
    from_right = d.touched_as(join.right, [(name, equal[name]) for name in columns])
    return plus(d.touched(join.left, columns), from_right)


def transition(counts: MatchCounts) -> Relation:
    """The keys with weight T: −1 where the first match appeared, +1 where the last one disappeared."""
    pairs = zip(counts.keys, counts.new_keys, strict=True)
    on = JoinCondition(tuple(Pair(key, other, null_safe=True) for key, other in pairs))
    compared = LeftJoin(counts.changed, counts.new, on)
    return only(Weigh(Filter(compared, TURNED), TRANSITION), counts.keys)
