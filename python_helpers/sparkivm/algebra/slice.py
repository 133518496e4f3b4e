"""SLICE: the rows of a table that several lookups ask for, found in one reading."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.join_condition import Pair
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.restricted import Restricted

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True)
class Lookup:
    """Keys that are looked up: each of `pairs` compares a column of the table with one of `keys`."""

    keys: Relation
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, eq=False)
class Slice(Relation):
    """σ_{K₁ ∨ K₂ ∨ …}(A) = the rows of A for which one of the lookups has a key; none is repeated.

    It only stands in plans that were derived, so it has no delta of its own.
    """

    input: Relation
    lookups: tuple[Lookup, ...]

    @property
    def columns(self) -> Columns:
        return self.input.columns

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.input, *(lookup.keys for lookup in self.lookups))

    @property
    def weighted(self) -> bool:
        return self.input.weighted

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        pairs = zip(self.lookups, children[1:], strict=True)
        return replace(
            self,
            input=children[0],
            lookups=tuple(Lookup(keys, lookup.pairs) for lookup, keys in pairs),
        )

    def delta(self, d: Derivation) -> Relation:
        raise NotImplementedError("a slice is part of a delta already")

    def restrict(self, keys: Keys) -> Relation:
        return Restricted(self, keys)
