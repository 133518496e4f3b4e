"""Base classes for operators with no input, with one, and for joins of two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain

from sparkivm.algebra.join_condition import JoinCondition
from sparkivm.algebra.relation import NO_BAGS, Columns, Relation, stays
from sparkivm.algebra.scalar import Scalar, conjuncts


@dataclass(frozen=True, eq=False)
class NoInput(Relation):
    """An operator without inputs."""

    bag_inputs = NO_BAGS
    groups = False
    if_empty = stays

    @property
    def children(self) -> tuple[Relation, ...]:
        return ()

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return self

    def source_of(self, name: str) -> tuple[Relation, str] | None:
        return None


@dataclass(frozen=True, eq=False)
class OneInput(Relation):
    """An operator over `input`, whose columns it passes on by default."""

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
        """The condition as conjuncts."""
        return self.on.predicates

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, left=children[0], right=children[1])


def map_on(join: TwoSides, change: Callable[[Scalar], Scalar]) -> Relation:
    """The `map_scalars` of a join whose only expressions are its condition."""
    predicates = map(change, chain.from_iterable(map(conjuncts, join.predicates)))
    return replace(join, on=JoinCondition.of(predicates, join.left.columns, join.right.columns))
