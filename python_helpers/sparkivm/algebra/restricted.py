"""RESTRICT: the rows of a relation whose key is among the affected ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkivm.algebra.keys import Keys
from sparkivm.algebra.relation import Columns, Derived, Relation


@dataclass(frozen=True, eq=False)
class Restricted(Derived):
    """R|K = R ⋉ K, null-safe; with `excluded` R ▷ K, the rows whose key is not among them."""

    input: Relation
    keys: Keys
    excluded: bool = False
    broadcast: bool = False  # the keys are few enough to be sent to every task

    @property
    def columns(self) -> Columns:
        return self.input.columns

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.input, self.keys.source)

    @property
    def weighted(self) -> bool:
        return self.input.weighted

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, input=children[0], keys=Keys(children[1], self.keys.pairs))

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))
