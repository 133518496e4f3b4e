"""WHERE: the rows for which a predicate is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sparkivm.algebra.linear import Linear
from sparkivm.algebra.moment import before, moments, shown
from sparkivm.algebra.relation import Columns, Relation, from_children, kept_whole
from sparkivm.algebra.scalar import Scalar, conjunction, conjuncts
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import negated, nothing

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class Filter(Linear):
    """σ_p(A): the rows of A for which p is TRUE (not FALSE, not NULL).

    delta     d σ_p(A) = σ_p(dA); if p reads a moment (¬ means "is not true"), also
              ⊎ σ_{p₁ ∧ ¬p₀}(A₀) − σ_{p₀ ∧ ¬p₁}(A₀)
    touched   σ_p(touched(A)), without σ if p reads other columns; no rule if p reads a moment that changed
    restrict  σ_p(A)|K = σ_p(A|K)
    needs     p deterministic
    source    Budiu et al. 2023 (DBSP): a linear operator is its own delta
    """

    predicate: Scalar

    groups = False
    if_empty = nothing
    monotone = True
    source_of = from_children
    pruned = kept_whole

    @property
    def at_most_one_row(self) -> bool:
        return self.input.at_most_one_row

    @property
    def label(self) -> str:
        return f"Filter {shown(self.predicate)}"

    @cached_property
    def tables(self) -> frozenset[str]:
        return self.input.tables | moments(self.predicate)

    def before(self) -> Relation:
        return replace(self, predicate=before(self.predicate))

    def delta(self, d: Derivation) -> Relation:
        kept = replace(self, input=d.delta(self.input))
        if not d.moves(self.predicate):
            return kept
        rows = d.old(self.input)
        only_first = "p and not coalesce(q, false)"
        new, old = self.predicate, before(self.predicate)
        came = Filter(rows, expression(only_first, p=new, q=old))
        went = Filter(rows, expression(only_first, p=old, q=new))
        return plus(kept, came, negated(went))

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        if d.moves(self.predicate):
            return None
        if self.predicate.columns <= set(columns):
            return Filter(d.touched(self.input, columns, exact=True), self.predicate)
        return d.touched(self.input, columns, exact=exact)

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        predicate = conjunction(map(change, conjuncts(self.predicate)))
        assert predicate is not None, "a predicate has a conjunct"
        return replace(self, predicate=predicate)
