"""Rows repeated: what INTERSECT ALL and EXCEPT ALL make of counted rows."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.linear import Linear
from sparkivm.algebra.scalar import Scalar


@dataclass(frozen=True, eq=False)
class Repeat(Linear):
    """ρ_n(A): each row of A as often as n says, an integer expression over its columns that is not negative.

    delta     d ρ_n(A) = ρ_n(dA): the weight of a row is multiplied by n
    restrict  ρ_n(A)|K = ρ_n(A|K)
    tested    tests/laws/test_delta_law.py
    """

    times: Scalar
