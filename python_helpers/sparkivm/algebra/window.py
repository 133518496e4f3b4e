"""Window functions: columns computed from the rows of a partition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.affected_keys import delta_by_keys, restricted_by_keys
from sparkivm.algebra.inputs import OneInput
from sparkivm.algebra.moment import shown
from sparkivm.algebra.relation import Columns, Pruned, Relation, from_children, stays
from sparkivm.algebra.scalar import Scalar

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True)
class Ordering:
    """One key of a window's ORDER BY."""

    key: Scalar
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class WindowCall:
    """One window function: its result column, and the call without OVER.

    frame     ROWS or RANGE with its bounds, empty for the default
    settled   whether ties are broken by all other columns, so that the result is a function of the bag of
              rows; ROW_NUMBER and the like would otherwise order ties arbitrarily
    """

    name: str
    call: Scalar
    order: tuple[Ordering, ...] = ()
    frame: str = ""
    settled: bool = False

    @property
    def sorted_by(self) -> frozenset[str]:
        """Columns that are keys of its ORDER BY."""
        return frozenset(name for one in self.order if (name := one.key.as_column) is not None)

    @property
    def columns(self) -> frozenset[str]:
        """Columns that it reads, without those of its partition."""
        return self.call.columns.union(*(ordering.key.columns for ordering in self.order))


@dataclass(frozen=True, eq=False)
class Window(OneInput):
    """ω_k(A): each row of A with values computed from all rows with the same k; without k, from all of A.

    delta     dω(A) = ω(A₁|K) − ω(A₀|K),  K = the partitions of dA; other partitions are the same in both
    touched   columns of k: touched(A)
    restrict  ω_k(A)|K = ω_k(A|K) for K over k
    tested    tests/laws/test_delta_law.py
    """

    partition: tuple[str, ...]
    calls: tuple[WindowCall, ...]

    bag_inputs = frozenset({0})
    groups = True
    if_empty = stays
    weighted = False
    monotone = False  # a new row may change other rows of its partition
    source_of = from_children

    @property
    def columns(self) -> Columns:
        return (*self.input.columns, *(call.name for call in self.calls))

    @property
    def at_most_one_row(self) -> bool:
        return self.input.at_most_one_row

    @property
    def label(self) -> str:
        by = f" by {', '.join(self.partition)}" if self.partition else ""
        return f"Window{by}: {', '.join(f'{call.name} = {shown(call.call)}' for call in self.calls)}"

    @property
    def strategy(self) -> str:
        return "affected partitions" if self.partition else "recomputed when its input changes"

    def delta(self, d: Derivation) -> Relation:
        return delta_by_keys(self, self.partition, d)

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        return d.touched(self.input, columns, exact=exact) if set(columns) <= set(self.partition) else None

    def restrict(self, keys: Keys) -> Relation:
        return restricted_by_keys(self, self.partition, keys)

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        calls = (
            replace(
                call,
                call=change(call.call),
                order=tuple(replace(one, key=change(one.key)) for one in call.order),
            )
            for call in self.calls
        )
        return replace(self, calls=tuple(calls))

    def pruned(self, wanted: frozenset[str]) -> Pruned:
        calls = tuple(call for call in self.calls if call.name in wanted)
        if not calls:
            return (wanted,), lambda children: children[0]
        read = wanted.union(self.partition, *(call.columns for call in calls))
        return (read,), lambda children: replace(self, input=children[0], calls=calls)
