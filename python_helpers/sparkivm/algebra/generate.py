"""LATERAL VIEW and time windows: each row once for each element of a collection in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.affected_keys import restricted_by_keys
from sparkivm.algebra.linear import Linear
from sparkivm.algebra.moment import shown
from sparkivm.algebra.relation import Columns, Relation, from_children, kept_whole, stays
from sparkivm.algebra.scalar import Scalar

if TYPE_CHECKING:
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class Generate(Linear):
    """{(a, e) | a ∈ A, e ∈ g(a)}: a row per element that g makes; with `outer`, NULLs if g makes no element.

    delta     d G(A) = G(dA)
    restrict  G(A)|K = G(A|K) for K over columns of A, else the semi-join stays on top
    needs     g deterministic
    tested    tests/laws/test_delta_law.py
    """

    generator: Scalar  # EXPLODE or the like, of expressions over A's columns
    names: Columns  # of the columns that it makes
    outer: bool = False
    in_select: bool = False  # Spark allows the function only in SELECT lists

    groups = False
    if_empty = stays
    monotone = True
    at_most_one_row = False
    source_of = from_children
    pruned = kept_whole

    @property
    def label(self) -> str:
        return f"Generate {', '.join(self.names)} = {shown(self.generator)}"

    @property
    def columns(self) -> Columns:
        return (*self.input.columns, *self.names)

    def restrict(self, keys: Keys) -> Relation:
        return restricted_by_keys(self, self.input.columns, keys)

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        return replace(self, generator=change(self.generator))
