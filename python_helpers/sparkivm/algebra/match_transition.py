"""The transition T: which rows of the preserved side got their first match or lost their last one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkivm.algebra.aggregate import Aggregate, Call
from sparkivm.algebra.filter import Filter
from sparkivm.algebra.join_condition import JoinCondition, Pair
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.project import Project, only, renamed
from sparkivm.algebra.relation import Relation
from sparkivm.algebra.scalar import Scalar, column, conjunction, is_not_null, null
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import Consolidate, Weigh

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation

_MATCHES_CHANGED = "__ivm_dm"  # Σ dB: by how much the number of matches changed
_MATCHES_NEW = "__ivm_m1"  # the number of matches in B₁

# [m₁ = 0] − [m₀ = 0] with m₀ = m₁ − dm; a missing count is 0.
_TRANSITION = expression(
    "case when coalesce(m1, 0) = 0 then 1 else 0 end - case when coalesce(m1, 0) - dm = 0 then 1 else 0 end",
    m1=_MATCHES_NEW,
    dm=_MATCHES_CHANGED,
)
_TURNED = expression(
    "(coalesce(m1, 0) = 0) <> (coalesce(m1, 0) - dm = 0)", m1=_MATCHES_NEW, dm=_MATCHES_CHANGED
)


@dataclass(frozen=True)
class Transition:
    """A Z-set whose weight is T. `keys` are its key columns, under names of their own; `of` what they are copies of."""

    relation: Relation
    keys: tuple[str, ...]
    of: tuple[str, ...]


def padding_by_key(d: Derivation, right: Relation, on: JoinCondition) -> Transition:
    """dB⁺ for an ON of equal columns: dB, and for each key a row of NULLs weighted with T of the key.

    Columns: those of B, then copies of its key columns, which the row of NULLs has filled too.
    """
    d_right = d.delta(right)
    key_columns = tuple(pair.right for pair in on.pairs)
    copies = tuple(f"__ivm_k{i}" for i in range(len(key_columns)))
    # A NULL key matches nothing, so such rows of B never reach the result.
    comparable = conjunction(is_not_null(pair.right) for pair in on.pairs if not pair.null_safe)
    matching = Filter(d_right, comparable) if comparable else d_right

    changed = Aggregate(
        renamed(matching, zip(copies, key_columns, strict=True)), copies, (Call(_MATCHES_CHANGED, "count_rows"),), signed=True
    )
    touched = d.new(right).restrict(Keys.of(matching, ((name, name) for name in key_columns)))
    counted_keys = tuple(f"__ivm_b{i}" for i in range(len(key_columns)))
    counted = Aggregate(
        renamed(touched, zip(counted_keys, key_columns, strict=True)), counted_keys, (Call(_MATCHES_NEW, "count_rows"),)
    )
    turned = _weighed_transition(changed, counted, copies, counted_keys)
    padding = Project(turned, (*((name, null()) for name in right.columns), *((k, column(k)) for k in copies)))
    rows = Project(
        matching,
        (*((name, column(name)) for name in right.columns), *((k, column(c)) for k, c in zip(copies, key_columns, strict=True))),
    )
    return Transition(plus(rows, padding), copies, key_columns)


def transition_by_row(d: Derivation, left: Relation, right: Relation, on: JoinCondition) -> Transition:
    """T for any ON: per distinct combination of those columns of A that ON reads, found by joining A₀ with dB."""
    from sparkivm.algebra.inner_join import InnerJoin

    d_right = d.delta(right)
    read = tuple(name for name in left.columns if name in on.columns) or left.columns[:1]
    left_old = d.old_bag(left, only=Keys.of(d_right, on.left_to_right))
    copies = tuple(f"__ivm_k{i}" for i in range(len(read)))
    combinations = Aggregate(renamed(left_old, zip(copies, read, strict=True)), copies, ())
    names = dict(zip(read, copies, strict=True))
    condition = _over(on, names)
    changed = Aggregate(
        only(InnerJoin((combinations, d_right), condition), copies), copies, (Call(_MATCHES_CHANGED, "count_rows"),), signed=True
    )
    moved = only(Consolidate(changed) if changed.weighted else changed, copies)
    matches = InnerJoin((moved, d.new(right, only=Keys.of(d_right, ((p.right, p.right) for p in on.pairs)))), condition)
    counted_keys = tuple(f"__ivm_b{i}" for i in range(len(read)))
    counted = Aggregate(
        renamed(matches, zip(counted_keys, copies, strict=True)), counted_keys, (Call(_MATCHES_NEW, "count_rows"),)
    )
    return Transition(_weighed_transition(changed, counted, copies, counted_keys), copies, read)


def _weighed_transition(
    changed: Relation, counted: Relation, keys: tuple[str, ...], counted_keys: tuple[str, ...]
) -> Relation:
    from sparkivm.algebra.left_join import LeftJoin

    pairs = tuple(Pair(key, other, null_safe=True) for key, other in zip(keys, counted_keys, strict=True))
    compared = LeftJoin(changed, counted, JoinCondition(pairs))
    return only(Weigh(Filter(compared, _TURNED), _TRANSITION), keys)


def _over(on: JoinCondition, names: dict[str, str]) -> tuple[Scalar, ...]:
    from sparkivm.algebra.scalar import equal

    pairs = tuple(equal(names[pair.left], pair.right, pair.null_safe) for pair in on.pairs)
    return (*pairs, *(scalar.rename(names) for scalar in on.residual))
