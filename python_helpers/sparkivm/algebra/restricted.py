"""RESTRICT: the rows of a relation whose key is among the affected ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.keys import Keys
from sparkivm.algebra.relation import NO_BAGS, Columns, Pruned, Relation, no_scalars, passed_on
from sparkivm.algebra.zset import Empty

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class Restricted(Relation):
    """R|K = R ⋉ K, null-safe; with `excluded` R ▷ K, the rows with other keys.

    delta     d(R|K) = (dR)|K for an unchanged K
    touched   touched(R)|K, or touched(R) if it lacks the columns of K
    tested    tests/laws/test_restrict_law.py, tests/laws/test_touched_law.py
    """

    input: Relation
    keys: Keys
    excluded: bool = False
    broadcast: bool = False  # the keys are few enough to be broadcast

    bag_inputs = NO_BAGS
    groups = False
    at_most_one_row = False
    strategy = "linear"
    map_scalars = no_scalars

    @property
    def columns(self) -> Columns:
        return self.input.columns

    @property
    def children(self) -> tuple[Relation, ...]:
        return (self.input, self.keys.source)

    @property
    def weighted(self) -> bool:
        return self.input.weighted

    @property
    def monotone(self) -> bool:
        return not self.excluded

    @property
    def label(self) -> str:
        keys = ", ".join(one if one == key else f"{one} = {key}" for one, key in self.keys.pairs)
        hint = " (broadcast keys)" if self.broadcast else ""
        return f"{'Exclude' if self.excluded else 'Restrict to'} {keys}{hint}"

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, input=children[0], keys=Keys(children[1], self.keys.pairs))

    def delta(self, d: Derivation) -> Relation:
        assert not d.changes(self.keys.source), "keys that change are part of a delta already"
        return replace(self, input=d.delta(self.input))

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        found = d.touched(self.input, columns, exact=exact)
        return replace(self, input=found) if self.keys.columns <= set(columns) else found

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))

    def source_of(self, name: str) -> tuple[Relation, str] | None:
        return passed_on(name, self.input)

    def pruned(self, wanted: frozenset[str]) -> Pruned:
        keys = frozenset(key for _, key in self.keys.pairs)
        return (wanted | self.keys.columns, keys), self.with_children

    def if_empty(self, gone: Sequence[bool]) -> Relation:
        return self.input if self.excluded else Empty(self.columns)


def above(relation: Relation, keys: Keys) -> Relation:
    """The `restrict` of an operator into which keys cannot be pushed."""
    return Restricted(relation, keys)
