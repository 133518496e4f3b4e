"""GROUP BY, DISTINCT, and aggregates without keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.affected_keys import delta_by_keys, restricted_by_keys
from sparkivm.algebra.aggregates.aggregate_function import Call
from sparkivm.algebra.inputs import OneInput
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.relation import NO_BAGS, Columns, Pruned, Relation, passed_on
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.zset import Empty

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class Aggregate(OneInput):
    """γ(A): one row per group; without keys exactly one row, also over empty input. Without calls: DISTINCT.

    `signed` groups a Z-set by weights: calls that add up weigh each row, and a group stays even if its count
    is 0. Otherwise the input is a plain bag.

    delta     dγ(A) = γ(A₁|K) − γ(A₀|K),  K = the keys of dA; groups outside K are the same in both
    touched   group keys: touched(A)
    restrict  γ(A)|K = γ(A|K) for K over group keys
    tested    tests/laws/test_delta_law.py
    """

    keys: tuple[str, ...]
    calls: tuple[Call, ...]
    signed: bool = False

    groups = True
    weighted = False
    monotone = False  # a group that changes is replaced

    @property
    def columns(self) -> Columns:
        return (*self.keys, *(call.name for call in self.calls))

    @property
    def bag_inputs(self) -> frozenset[int]:
        return NO_BAGS if self.signed else frozenset({0})

    @property
    def at_most_one_row(self) -> bool:
        return not self.keys or self.input.at_most_one_row

    @property
    def label(self) -> str:
        if self.keys and not self.calls:
            return f"Distinct {', '.join(self.keys)}"
        by = f" by {', '.join(self.keys)}" if self.keys else ""
        calls = ", ".join(f"{call.name} = {call.shown}" for call in self.calls)
        return f"{'Weighted ' if self.signed else ''}Aggregate{by}" + (f": {calls}" if calls else "")

    @property
    def strategy(self) -> str:
        return "affected keys" if self.keys else "recomputed when its input changes"

    def delta(self, d: Derivation) -> Relation:
        return delta_by_keys(self, self.keys, d)

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        return d.touched(self.input, columns, exact=exact) if set(columns) <= set(self.keys) else None

    def restrict(self, keys: Keys) -> Relation:
        return restricted_by_keys(self, self.keys, keys)

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        calls = (
            replace(call, argument=change(call.argument)) if call.argument is not None else call
            for call in self.calls
        )
        return replace(self, calls=tuple(calls))

    def source_of(self, name: str) -> tuple[Relation, str] | None:
        return passed_on(name, self.input) if name in self.keys else None

    def pruned(self, wanted: frozenset[str]) -> Pruned:
        calls = tuple(call for call in self.calls if call.name in wanted)
        arguments = (call.argument.columns for call in calls if call.argument is not None)
        read = frozenset(self.keys).union(*arguments)
        return (read,), lambda children: replace(self, input=children[0], calls=calls)

    def if_empty(self, gone: Sequence[bool]) -> Relation:
        return Empty(self.columns) if self.keys else self
