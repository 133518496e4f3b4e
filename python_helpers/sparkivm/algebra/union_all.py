"""UNION ALL: all rows of all inputs, equal ones kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.zset import Consolidate, negated

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class UnionAll(Relation):
    """A ⊎ B ⊎ …: weights add up. All inputs have the same columns in the same order.

    delta     d(A ⊎ B) = dA ⊎ dB
    touched   touched(A) ∪ touched(B)
    restrict  (A ⊎ B)|K = A|K ⊎ B|K
    source    Budiu et al. 2023 (DBSP): a linear operator is its own delta
    """

    inputs: tuple[Relation, ...]
    # Whether branches of several types are widened two at a time, from the left.
    # Read by `align_unions` alone.
    in_pairs: bool = False

    @property
    def columns(self) -> Columns:
        return self.inputs[0].columns

    @property
    def children(self) -> tuple[Relation, ...]:
        return self.inputs

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, inputs=children)

    def delta(self, d: Derivation) -> Relation:
        return UnionAll(tuple(d.delta(child) for child in self.inputs))

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        return UnionAll(tuple(d.touched(child, columns, exact=exact) for child in self.inputs))

    def restrict(self, keys: Keys) -> Relation:
        return UnionAll(tuple(child.restrict(keys) for child in self.inputs))


def plus(*relations: Relation) -> Relation:
    """The sum of Z-sets."""
    return relations[0] if len(relations) == 1 else UnionAll(relations)


def total(relations: Sequence[Relation]) -> Relation:
    return plus(*relations)


def difference(new: Relation, old: Relation) -> Relation:
    """new − old, consolidated."""
    return Consolidate(plus(new, negated(old)))
