"""Signed bags: adding, negating, consolidating, and converting between weights and copies of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.inputs import NoInput, OneInput
from sparkivm.algebra.linear import Linear
from sparkivm.algebra.moment import shown
from sparkivm.algebra.relation import (
    NO_BAGS,
    Columns,
    Derived,
    Pruned,
    Relation,
    from_children,
    kept_whole,
    no_scalars,
)
from sparkivm.algebra.scalar import Scalar, integer

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys

_MINUS_ONE = integer(-1)


@dataclass(frozen=True, eq=False)
class Empty(NoInput):
    """No rows: the delta of an unchanged relation."""

    names: Columns

    monotone = True
    at_most_one_row = True
    map_scalars = no_scalars
    label = "Empty"
    strategy = "constant"
    pruned = kept_whole

    @property
    def columns(self) -> Columns:
        return self.names

    def delta(self, d: Derivation) -> Relation:
        return self

    def restrict(self, keys: Keys) -> Relation:
        return self


def nothing(relation: Relation, gone: Sequence[bool]) -> Relation:
    """The `if_empty` of an operator that has no rows if an input has none."""
    return Empty(relation.columns)


@dataclass(frozen=True, eq=False)
class Weigh(Linear):
    """Each row's weight multiplied by an integer expression over its columns."""

    factor: Scalar

    groups = False
    weighted = True
    monotone = False
    at_most_one_row = False
    source_of = from_children
    if_empty = nothing
    pruned = kept_whole

    @property
    def label(self) -> str:
        return "Negate" if self.factor == _MINUS_ONE else f"Multiply weights by {shown(self.factor)}"

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        return replace(self, factor=change(self.factor))


@dataclass(frozen=True, eq=False)
class Consolidate(OneInput):
    """The weights of equal rows added up, rows with weight 0 dropped. Needs neither key nor order."""

    # Columns in which GROUP BY takes different values for equal; each with an expression to group by instead.
    told_apart: tuple[tuple[str, Scalar], ...] = ()

    bag_inputs = NO_BAGS
    groups = False
    weighted = True
    monotone = True
    at_most_one_row = False
    map_scalars = no_scalars
    source_of = from_children
    if_empty = nothing
    pruned = kept_whole
    label = "Consolidate"
    strategy = "linear"

    def delta(self, d: Derivation) -> Relation:
        return Consolidate(d.delta(self.input))

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))


@dataclass(frozen=True, eq=False)
class Copies(Linear):
    """A consolidated Z-set without negative weights as a plain bag: each row repeated by its weight."""

    groups = False
    weighted = False
    monotone = True
    at_most_one_row = False
    map_scalars = no_scalars
    source_of = from_children
    if_empty = nothing
    pruned = kept_whole
    label = "Repeat by weight"


@dataclass(frozen=True, eq=False)
class Unweigh(Derived, OneInput):
    """A Z-set as a plain relation with its weight in the ordinary column `name`."""

    name: str

    bag_inputs = NO_BAGS
    groups = False
    weighted = False
    monotone = False
    at_most_one_row = False
    map_scalars = no_scalars
    source_of = from_children
    if_empty = nothing

    @property
    def columns(self) -> Columns:
        return (*self.input.columns, self.name)

    @property
    def label(self) -> str:
        return f"Weight as column {self.name}"

    def restrict(self, keys: Keys) -> Relation:
        return replace(self, input=self.input.restrict(keys))

    def pruned(self, wanted: frozenset[str]) -> Pruned:
        return (wanted - {self.name},), self.with_children


def negated(relation: Relation) -> Relation:
    return Weigh(relation, _MINUS_ONE)


def plain(relation: Relation) -> Relation:
    """A relation without negative weights as a plain bag."""
    return Copies(Consolidate(relation)) if relation.weighted else relation
