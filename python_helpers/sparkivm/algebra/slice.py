"""SLICE: the rows of a table that several lookups need, found in one scan."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkivm.algebra.join_condition import Pair
from sparkivm.algebra.relation import (
    NO_BAGS,
    Columns,
    Derived,
    Pruned,
    Relation,
    no_scalars,
    passed_on,
    stays,
)
from sparkivm.algebra.restricted import above


@dataclass(frozen=True)
class Lookup:
    """Keys to look up: each of `pairs` compares a column of the table with a column of `keys`."""

    keys: Relation
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, eq=False)
class Slice(Derived):
    """σ_{K₁ ∨ K₂ ∨ …}(A) = the rows of A whose key is in some lookup, none repeated.

    tested    tests/laws/test_slice_law.py
    """

    input: Relation
    lookups: tuple[Lookup, ...]

    bag_inputs = NO_BAGS
    groups = False
    if_empty = stays
    monotone = True
    at_most_one_row = False
    restrict = above
    map_scalars = no_scalars

    @property
    def columns(self) -> Columns:
        return self.input.columns

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.input, *(lookup.keys for lookup in self.lookups))

    @property
    def weighted(self) -> bool:
        return self.input.weighted

    @property
    def label(self) -> str:
        compared = (", ".join(pair.left for pair in lookup.pairs) for lookup in self.lookups)
        return f"Slice by {' or '.join(compared)}"

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        pairs = zip(self.lookups, children[1:], strict=True)
        return replace(
            self,
            input=children[0],
            lookups=tuple(Lookup(keys, lookup.pairs) for lookup, keys in pairs),
        )

    def source_of(self, name: str) -> tuple[Relation, str] | None:
        return passed_on(name, self.input)

    def pruned(self, wanted: frozenset[str]) -> Pruned:
        compared = frozenset(pair.left for lookup in self.lookups for pair in lookup.pairs)
        keys = (frozenset(pair.right for pair in lookup.pairs) for lookup in self.lookups)
        return (wanted | compared, *keys), self.with_children
