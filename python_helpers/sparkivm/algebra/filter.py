"""WHERE: the rows for which a predicate is true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkivm.algebra.linear import Linear
from sparkivm.algebra.scalar import Scalar

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class Filter(Linear):
    """σ_p(A): the rows of A for which p is TRUE, not FALSE and not NULL.

    delta     d σ_p(A) = σ_p(dA)
    restrict  σ_p(A)|K = σ_p(A|K)
    needs     p deterministic
    source    docs/laws.md [1]
    """

    predicate: Scalar
