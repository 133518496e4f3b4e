"""The delta rule of operators that work on each row by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.relation import Columns, Relation

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class Linear(Relation):
    """f(A ⊎ B) = f(A) ⊎ f(B), hence d f(A) = f(dA)."""

    input: Relation

    @property
    def columns(self) -> Columns:
        return self.input.columns

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.input,)

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, input=children[0])

    def delta(self, d: Derivation) -> Relation:
        return self.with_children((d.delta(self.input),))

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))
