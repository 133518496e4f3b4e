"""The leaves: a source at its new or old version, and its changes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from sparkivm.algebra.relation import Columns, Derived, Relation
from sparkivm.algebra.restricted import Restricted

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


class At(Enum):
    """Which content of a source: as of the refresh's target version, or as of the frontier."""

    NEW = "new"
    OLD = "old"


@dataclass(frozen=True, eq=False)
class Leaf(Relation):
    """A source table, once for each place where the query reads it.

    table   the source's key
    fields  pairs of (column name here, field name in the source)
    """

    table: str
    fields: tuple[tuple[str, str], ...]

    @property
    def columns(self) -> Columns:
        return tuple(name for name, _ in self.fields)

    @property
    def children(self) -> tuple[Relation, ...]:
        return ()

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return self

    @cached_property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table})

    def restrict(self, keys: Keys) -> Relation:
        return Restricted(self, keys)


@dataclass(frozen=True, eq=False)
class Scan(Leaf):
    """A source at one version.

    delta     d(Scan t) = Changes t
    restrict  a semi-join on top of the scan
    tested    tests/laws/test_delta_law.py
    """

    at: At = At.NEW

    def delta(self, d: Derivation) -> Relation:
        return Changes(self.table, self.fields)


@dataclass(frozen=True, eq=False)
class Changes(Derived, Leaf):
    """What changed in a source between the frontier and the target: new − old, as weights."""

    @property
    def weighted(self) -> bool:
        return True
