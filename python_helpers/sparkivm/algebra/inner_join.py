"""INNER JOIN of any number of inputs, CROSS JOIN included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.keys import Keys
from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import Scalar, equality
from sparkivm.algebra.union_all import total

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class InnerJoin(Relation):
    """A ⋈ B ⋈ …: all combinations of rows for which every predicate is TRUE.

    delta     Σ over changed inputs j:  new(1) ⋈ … ⋈ new(j−1) ⋈ d(j) ⋈ old(j+1) ⋈ … ⋈ old(n)
              Each term has one delta, so it is linear in it; the order of the inputs does not matter.
    restrict  keys go to the input that owns their column, and across equalities to the others
    source    docs/laws.md [2]; telescoping as in Zhou, Larson, Elmongui 2007, §3.3
    """

    inputs: tuple[Relation, ...]
    predicates: tuple[Scalar, ...]
    broadcast: int | None = None  # index of an input small enough to be sent to every task

    @property
    def columns(self) -> Columns:
        return tuple(name for child in self.inputs for name in child.columns)

    @property
    def children(self) -> tuple[Relation, ...]:
        return self.inputs

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, inputs=children)

    def delta(self, d: Derivation) -> Relation:
        terms: list[Relation] = []
        for j, changed in enumerate(self.inputs):
            if not d.changes(changed):
                continue
            d_j = d.delta(changed)
            inputs = list(self.inputs)
            for i, other in enumerate(self.inputs):
                only = Keys.of(d_j, self._equalities(other, changed))
                inputs[i] = d_j if i == j else d.new(other, only) if i < j else d.old(other, only)
            terms.append(replace(self, inputs=tuple(inputs)))
        return total(terms)

    def restrict(self, keys: Keys) -> Relation:
        inputs = []
        for i, child in enumerate(self.inputs):
            mine = dict(keys.within(child.columns).pairs)
            for j, other in enumerate(self.inputs):
                if i != j:
                    for name, key in keys.across(self._equalities(other, child)).pairs:
                        mine.setdefault(name, key)
            narrowing = Keys.of(keys.source, mine.items())
            inputs.append(child.restrict(narrowing) if narrowing else child)
        narrowed = replace(self, inputs=tuple(inputs))
        owners = [child for child in self.inputs if keys.within(child.columns)]
        return narrowed if len(owners) == 1 else Restricted(narrowed, keys)

    def _equalities(self, one: Relation, other: Relation) -> list[tuple[str, str]]:
        """Pairs (column of `one`, equal column of `other`)."""
        found = []
        for predicate in self.predicates:
            pair = equality(predicate)
            if pair:
                left, right, _ = pair
                if left in one.columns and right in other.columns:
                    found.append((left, right))
                elif right in one.columns and left in other.columns:
                    found.append((right, left))
        return found
