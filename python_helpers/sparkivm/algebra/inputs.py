"""What operators over one relation, and joins of two, have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkivm.algebra.join_condition import JoinCondition
from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.scalar import Scalar


@dataclass(frozen=True, eq=False)
class OneInput(Relation):
    """An operator over `input`, whose columns it passes on if it does not say otherwise."""

    input: Relation

    @property
    def columns(self) -> Columns:
        return self.input.columns

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.input,)

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, input=children[0])


@dataclass(frozen=True, eq=False)
class TwoSides(Relation):
    """A join of `left` and `right` by a condition over columns of both."""

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
    def predicates(self) -> tuple[Scalar, ...]:
        """The condition as a list of conjuncts."""
        return self.on.predicates

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, left=children[0], right=children[1])
