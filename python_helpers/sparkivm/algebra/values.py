"""SELECT without FROM: one row without columns of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkivm.algebra.inputs import NoInput
from sparkivm.algebra.relation import Columns, Relation, kept_whole, no_scalars
from sparkivm.algebra.restricted import above
from sparkivm.algebra.zset import Empty

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class OneRow(NoInput):
    """The bag {()}.

    delta     empty: it is a constant
    restrict  a semi-join on top
    tested    tests/laws/test_delta_law.py
    """

    monotone = True
    at_most_one_row = True
    restrict = above
    map_scalars = no_scalars
    pruned = kept_whole
    label = "OneRow"
    strategy = "constant"

    @property
    def columns(self) -> Columns:
        return ()

    def delta(self, d: Derivation) -> Relation:
        return Empty(())
