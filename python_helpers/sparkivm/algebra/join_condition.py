"""The ON of a join: equal pairs of columns, and a residual."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sparkivm.algebra.scalar import Scalar, equal, equality


@dataclass(frozen=True)
class Pair:
    """left = right, or left <=> right if `null_safe`."""

    left: str
    right: str
    null_safe: bool = False


@dataclass(frozen=True)
class JoinCondition:
    """The conjunction of all `pairs` and all `residual`; TRUE if both are empty."""

    pairs: tuple[Pair, ...] = ()
    residual: tuple[Scalar, ...] = ()

    @staticmethod
    def of(predicates: Iterable[Scalar], left: Collection[str], right: Collection[str]) -> JoinCondition:
        pairs, residual = [], []
        for predicate in predicates:
            found = equality(predicate)
            if found and found[0] in left and found[1] in right:
                pairs.append(Pair(*found))
            elif found and found[1] in left and found[0] in right:
                pairs.append(Pair(found[1], found[0], found[2]))
            else:
                residual.append(predicate)
        return JoinCondition(tuple(pairs), tuple(residual))

    @property
    def flipped(self) -> JoinCondition:
        """The same condition with the sides swapped."""
        return JoinCondition(
            tuple(Pair(pair.right, pair.left, pair.null_safe) for pair in self.pairs), self.residual
        )

    @property
    def left_to_right(self) -> list[tuple[str, str]]:
        return [(pair.left, pair.right) for pair in self.pairs]

    @property
    def right_to_left(self) -> list[tuple[str, str]]:
        return [(pair.right, pair.left) for pair in self.pairs]

    @property
    def predicates(self) -> tuple[Scalar, ...]:
        """The same as a list of conjuncts."""
        return (*(equal(pair.left, pair.right, pair.null_safe) for pair in self.pairs), *self.residual)

    @property
    def columns(self) -> frozenset[str]:
        named = {name for pair in self.pairs for name in (pair.left, pair.right)}
        return frozenset(named).union(*(scalar.columns for scalar in self.residual))
