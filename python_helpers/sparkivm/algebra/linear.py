"""The delta rule of operators that work row by row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.inputs import OneInput
from sparkivm.algebra.relation import NO_BAGS, Columns, Relation

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class Linear(OneInput):
    """f(A ⊎ B) = f(A) ⊎ f(B), so d f(A) = f(dA)."""

    bag_inputs = NO_BAGS
    strategy = "linear"

    def delta(self, d: Derivation) -> Relation:
        return self.with_children((d.delta(self.input),))

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        return (
            d.touched(self.input, columns, exact=exact) if set(columns) <= set(self.input.columns) else None
        )

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))
