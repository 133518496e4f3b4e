"""The number of matching rows of B, now and before, from which we compute the T of LEFT JOIN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkivm.algebra.aggregate import Aggregate
from sparkivm.algebra.aggregates.aggregate_function import Call
from sparkivm.algebra.aggregates.count import ROWS
from sparkivm.algebra.filter import Filter
from sparkivm.algebra.inner_join import InnerJoin
from sparkivm.algebra.join_condition import JoinCondition
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.project import Project, only, renamed
from sparkivm.algebra.relation import Relation
from sparkivm.algebra.scalar import conjunction, equal, integer
from sparkivm.algebra.sql_expression import expression

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation

_CHANGED = "__ivm_dm"
_NEW = "__ivm_m1"

# [m₁ = 0] − [m₀ = 0] with m₀ = m₁ − dm; a missing count is 0.
TRANSITION = expression(
    "case when coalesce(m1, 0) = 0 then 1 else 0 end - case when coalesce(m1, 0) - dm = 0 then 1 else 0 end",
    m1=_NEW,
    dm=_CHANGED,
)
TURNED = expression("(coalesce(m1, 0) = 0) <> (coalesce(m1, 0) - dm = 0)", m1=_NEW, dm=_CHANGED)


@dataclass(frozen=True)
class MatchCounts:
    """Counts per key, for the keys whose rows in B changed."""

    changed: Relation  # columns `keys` and dm = Σ dB
    new: Relation  # columns `new_keys` and m₁, the number of matches in B₁; keys without a match are missing
    keys: tuple[str, ...]
    new_keys: tuple[str, ...]
    of: tuple[str, ...]  # the columns that keys are copies of


def transition_strategy(on: JoinCondition) -> str:
    return "transition by key" if on.pairs and not on.residual else "transition by row"


def counts_by_key(d: Derivation, right: Relation, d_right: Relation, on: JoinCondition) -> MatchCounts:
    """Per key of B, for an ON of only equal columns. `d_right`: dB without rows that cannot match."""
    of = tuple(pair.right for pair in on.pairs)
    keys, new_keys = _copies("k", of), _copies("b", of)
    touched = d.new(right).restrict(Keys.of(d_right, ((name, name) for name in of)))
    changed = _counted(d_right, of, keys, _CHANGED, signed=True)
    return MatchCounts(changed, _counted(touched, of, new_keys, _NEW), keys, new_keys, of)


def counts_by_row(d: Derivation, left: Relation, right: Relation, on: JoinCondition) -> MatchCounts:
    """For any ON: per combination of those columns of A that ON reads, found by joining A₀ with dB."""
    d_right = d.delta(right)
    of = tuple(name for name in left.columns if name in on.columns)
    if not of:
        return _counts_of_all(d, right, d_right, on)
    keys, new_keys = _copies("k", of), _copies("b", of)
    left_old = d.old_bag(left, only=Keys.of(d_right, on.left_to_right))
    combinations = Aggregate(renamed(left_old, zip(keys, of, strict=True)), keys, ())
    names = dict(zip(of, keys, strict=True))
    condition = (
        *(equal(names[pair.left], pair.right, pair.null_safe) for pair in on.pairs),
        *(scalar.rename(names) for scalar in on.residual),
    )
    changed = _counted(InnerJoin((combinations, d_right), condition), keys, keys, _CHANGED, signed=True)
    right_new = d.new(right, only=Keys.of(d_right, ((pair.right, pair.right) for pair in on.pairs)))
    matches = InnerJoin((only(changed, keys), right_new), condition)
    return MatchCounts(changed, _counted(matches, keys, new_keys, _NEW), keys, new_keys, of)


def _counts_of_all(d: Derivation, right: Relation, d_right: Relation, on: JoinCondition) -> MatchCounts:
    """For an ON that reads no column of A: all rows of A have the same matches, so A is not read."""
    condition = conjunction(on.residual)

    def counted(rows: Relation, key: str, count: str, signed: bool = False) -> Relation:
        matching = Filter(rows, condition) if condition is not None else rows
        # Grouped by a constant, so that empty input gives no group.
        return Aggregate(Project(matching, ((key, integer(1)),)), (key,), (Call(count, ROWS),), signed=signed)

    (key,), (new_key,) = _copies("k", ("all",)), _copies("b", ("all",))
    changed, new = counted(d_right, key, _CHANGED, signed=True), counted(d.new(right), new_key, _NEW)
    return MatchCounts(changed, new, (), (), ())


def _counted(
    rows: Relation, by: tuple[str, ...], keys: tuple[str, ...], count: str, signed: bool = False
) -> Aggregate:
    return Aggregate(renamed(rows, zip(keys, by, strict=True)), keys, (Call(count, ROWS),), signed=signed)


def _copies(letter: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"__ivm_{letter}{i}" for i in range(len(names)))
