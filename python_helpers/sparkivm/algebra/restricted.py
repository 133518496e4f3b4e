"""RESTRICT: the rows of a relation whose key is among the affected ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.keys import Keys
from sparkivm.algebra.relation import Columns, Relation

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class Restricted(Relation):
    """R|K = R ⋉ K, null-safe; with `excluded` R ▷ K, the rows whose key is not among them.

    It only stands in plans that were derived, so it has no delta of its own.
    """

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

    def delta(self, d: Derivation) -> Relation:
        raise NotImplementedError("a restricted relation is part of a delta already")

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))
