"""FULL JOIN: what it means and how it changes, by LEFT JOIN and ANTI JOIN."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.join_condition import JoinCondition
from sparkivm.algebra.left_join import LeftJoin
from sparkivm.algebra.project import Project
from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import Scalar, column, null
from sparkivm.algebra.semi_join import SemiJoin
from sparkivm.algebra.union_all import plus

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class FullJoin(Relation):
    """A ⟗ B = (A ⟕ B) ⊎ NULL × (B ▷ A): matches, and every row without one padded with NULLs.

    delta     d(A ⟗ B) = d(A ⟕ B) ⊎ NULL × d(B ▷ A)
    restrict  a semi-join on top: a row of one side decides whether one of the other is padded
    source    docs/laws.md [3]
    """

    left: Relation
    right: Relation
    on: JoinCondition

    @property
    def columns(self) -> Columns:
        return self.left.columns + self.right.columns

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.left, self.right)

    @property
    def weighted(self) -> bool:
        return False

    @property
    def bag_inputs(self) -> frozenset[int]:
        return frozenset({0, 1})

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, left=children[0], right=children[1])

    def delta(self, d: Derivation) -> Relation:
        left_rows = LeftJoin(self.left, self.right, self.on)
        right_only = SemiJoin(self.right, self.left, self.on.flipped, anti=True)
        nulls = [(name, null()) for name in self.left.columns]
        mine = [(name, column(name)) for name in self.right.columns]
        return plus(d.delta(left_rows), Project(d.delta(right_only), (*nulls, *mine)))

    def restrict(self, keys: Keys) -> Relation:
        return Restricted(self, keys)

    @property
    def predicates(self) -> tuple[Scalar, ...]:
        """The ON as a list of conjuncts."""
        return self.on.predicates
