"""The leaves: a source at its new or old version, and its changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

from sparkivm.algebra.inputs import NoInput
from sparkivm.algebra.relation import Columns, Derived, Pruned, Relation, no_scalars
from sparkivm.algebra.restricted import above

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


class At(Enum):
    """The version of a source: the refresh's target, or the frontier."""

    NEW = "new"
    OLD = "old"


@dataclass(frozen=True, eq=False)
class Leaf(NoInput):
    """A source table; one leaf for each place where the query reads it.

    table   the source's key
    fields  pairs of (column name here, field name in the source)
    """

    table: str
    fields: tuple[tuple[str, str], ...]

    monotone = True
    at_most_one_row = False
    restrict = above
    map_scalars = no_scalars

    @property
    def columns(self) -> Columns:
        return tuple(name for name, _ in self.fields)

    @cached_property
    def tables(self) -> frozenset[str]:
        return frozenset({self.table})

    def pruned(self, wanted: frozenset[str]) -> Pruned:
        fields = tuple(field for field in self.fields if field[0] in wanted)
        return (), lambda _: replace(self, fields=fields)

    @property
    def _shown(self) -> str:
        return f"{self.table}: {', '.join(source for _, source in self.fields) or 'rows only'}"


@dataclass(frozen=True, eq=False)
class Scan(Leaf):
    """A source at one version.

    delta     d(Scan t) = Changes t
    restrict  a semi-join on top of the scan
    tested    tests/laws/test_delta_law.py
    """

    at: At = At.NEW

    strategy = ""

    @property
    def label(self) -> str:
        return f"{'Scan' if self.at is At.NEW else 'Scan old'} {self._shown}"

    def delta(self, d: Derivation) -> Relation:
        return Changes(self.table, self.fields)


@dataclass(frozen=True, eq=False)
class Changes(Derived, Leaf):
    """What changed in a source between the frontier and the target: new − old, as weights."""

    weighted = True

    @property
    def label(self) -> str:
        return f"Changes {self._shown}"
