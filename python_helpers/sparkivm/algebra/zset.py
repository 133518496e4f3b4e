"""Signed bags: adding, negating, consolidating, and the ways between weights and rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.inputs import OneInput
from sparkivm.algebra.linear import Linear
from sparkivm.algebra.relation import Columns, Derived, Relation
from sparkivm.algebra.scalar import Scalar, integer

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class Empty(Relation):
    """No rows: the delta of what did not change."""

    names: Columns

    @property
    def columns(self) -> Columns:
        return self.names

    @property
    def children(self) -> tuple[Relation, ...]:
        return ()

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return self

    def delta(self, d: Derivation) -> Relation:
        return self

    def restrict(self, keys: Keys) -> Relation:
        return self


@dataclass(frozen=True, eq=False)
class Weigh(Linear):
    """Each row's weight multiplied by an integer expression over its columns."""

    factor: Scalar

    @property
    def weighted(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class Consolidate(OneInput):
    """The weights of equal rows added up, rows of weight 0 gone. Needs neither key nor order."""

    @property
    def weighted(self) -> bool:
        return True

    def delta(self, d: Derivation) -> Relation:
        return Consolidate(d.delta(self.input))

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))


@dataclass(frozen=True, eq=False)
class Copies(Linear):
    """A consolidated Z-set without negative weights as a plain bag: each row as often as its weight says."""

    @property
    def weighted(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class Unweigh(Derived, OneInput):
    """A Z-set as a plain relation that has its weight as the ordinary column `name`."""

    name: str

    @property
    def columns(self) -> Columns:
        return (*self.input.columns, self.name)

    @property
    def weighted(self) -> bool:
        return False

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))


def negated(relation: Relation) -> Relation:
    return Weigh(relation, integer(-1))


def plain(relation: Relation) -> Relation:
    """A relation that is a bag in meaning as one without weights."""
    return Copies(Consolidate(relation)) if relation.weighted else relation
