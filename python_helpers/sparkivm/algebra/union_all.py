"""UNION ALL: all rows of all inputs, duplicates kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.relation import NO_BAGS, Columns, Pruned, Relation, no_scalars
from sparkivm.algebra.zset import Consolidate, Empty, negated

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class UnionAll(Relation):
    """A ⊎ B ⊎ …: weights add up. All inputs have the same columns, in any order.

    delta     d(A ⊎ B) = dA ⊎ dB
    touched   touched(A) ∪ touched(B)
    restrict  (A ⊎ B)|K = A|K ⊎ B|K
    source    Budiu et al. 2023 (DBSP): a linear operator is its own delta
    """

    inputs: tuple[Relation, ...]
    # Whether differing branch types are widened pairwise, from the left.
    # Only `align_unions` reads it.
    in_pairs: bool = False

    bag_inputs = NO_BAGS
    groups = False
    monotone = True
    at_most_one_row = False
    strategy = "linear"
    map_scalars = no_scalars

    @property
    def label(self) -> str:
        return f"UnionAll of {len(self.inputs)}"

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

    def source_of(self, name: str) -> tuple[Relation, str] | None:
        return None

    def pruned(self, wanted: frozenset[str]) -> Pruned:
        columns = tuple(name for name in self.columns if name in wanted) or self.columns[:1]
        return (columns,) * len(self.inputs), UnionAll

    def if_empty(self, gone: Sequence[bool]) -> Relation:
        rest = tuple(child for child, is_gone in zip(self.inputs, gone, strict=True) if not is_gone)
        return plus(*rest) if rest else Empty(self.columns)


def plus(*relations: Relation) -> Relation:
    """The sum of Z-sets."""
    return relations[0] if len(relations) == 1 else UnionAll(relations)


def total(relations: Sequence[Relation]) -> Relation:
    return plus(*relations)


def difference(new: Relation, old: Relation) -> Relation:
    """new − old, consolidated."""
    return Consolidate(plus(new, negated(old)))
