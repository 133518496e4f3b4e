"""Rows repeated: INTERSECT ALL and EXCEPT ALL turn counted rows into copies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sparkivm.algebra.linear import Linear
from sparkivm.algebra.moment import shown
from sparkivm.algebra.relation import Relation, from_children, kept_whole
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.zset import nothing


@dataclass(frozen=True, eq=False)
class Repeat(Linear):
    """ρ_n(A): each row of A n times; n is a non-negative integer expression over its columns.

    delta     d ρ_n(A) = ρ_n(dA): the weight of a row is multiplied by n
    restrict  ρ_n(A)|K = ρ_n(A|K)
    tested    tests/laws/test_delta_law.py
    """

    times: Scalar

    groups = False
    if_empty = nothing
    monotone = True
    at_most_one_row = False
    source_of = from_children
    pruned = kept_whole

    @property
    def label(self) -> str:
        return f"Repeat {shown(self.times)} times"

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        return replace(self, times=change(self.times))
