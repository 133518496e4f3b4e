"""GROUP BY, DISTINCT, and aggregates over everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkivm.algebra.affected_keys import delta_by_keys, restricted_by_keys
from sparkivm.algebra.aggregates.aggregate_function import Call
from sparkivm.algebra.inputs import OneInput
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.relation import Columns, Relation

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class Aggregate(OneInput):
    """γ(A): one row per group; without keys exactly one row, also for no input. Without calls it is DISTINCT.

    `signed` groups a Z-set by its weights: calls that add up weigh each row, a group stays even if its
    count is 0. Otherwise the input is a plain bag.

    delta     dγ(A) = γ(A₁|K) − γ(A₀|K),  K = the keys of dA; a group outside of K is the same in both
    touched   group keys: touched(A)
    restrict  γ(A)|K = γ(A|K) for K over group keys
    tested    tests/laws/test_delta_law.py
    """

    keys: tuple[str, ...]
    calls: tuple[Call, ...]
    signed: bool = False

    @property
    def columns(self) -> Columns:
        return (*self.keys, *(call.name for call in self.calls))

    @property
    def weighted(self) -> bool:
        return False

    @property
    def groups(self) -> bool:
        return True

    @property
    def bag_inputs(self) -> frozenset[int]:
        return frozenset() if self.signed else frozenset({0})

    def delta(self, d: Derivation) -> Relation:
        return delta_by_keys(self, self.keys, d)

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        return d.touched(self.input, columns, exact=exact) if set(columns) <= set(self.keys) else None

    def restrict(self, keys: Keys) -> Relation:
        return restricted_by_keys(self, self.keys, keys)
