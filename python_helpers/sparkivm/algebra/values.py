"""SELECT without FROM: one row without columns of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.zset import Empty

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class OneRow(Relation):
    """The bag {()}.

    delta     nothing: it is a constant
    restrict  a semi-join on top
    tested    tests/laws/test_delta_law.py
    """

    @property
    def columns(self) -> Columns:
        return ()

    @property
    def children(self) -> tuple[Relation, ...]:
        return ()

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return self

    def delta(self, d: Derivation) -> Relation:
        return Empty(())

    def restrict(self, keys: Keys) -> Relation:
        return Restricted(self, keys)
