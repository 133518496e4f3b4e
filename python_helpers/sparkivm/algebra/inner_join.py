"""INNER JOIN of any number of inputs, CROSS JOIN included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from sparkivm.algebra.join_condition import JoinCondition
from sparkivm.algebra.keys import Keys
from sparkivm.algebra.memo import memoized
from sparkivm.algebra.moment import all_shown
from sparkivm.algebra.relation import NO_BAGS, Columns, Relation, from_children, has_groups, kept_whole
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import Scalar, conjuncts, equality
from sparkivm.algebra.union_all import total
from sparkivm.algebra.zset import nothing

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation


@dataclass(frozen=True, eq=False)
class InnerJoin(Relation):
    """A ⋈ B ⋈ …: all combinations of rows for which every predicate is TRUE.

    delta     Σ over changed inputs j:  new(1) ⋈ … ⋈ new(j−1) ⋈ d(j) ⋈ old(j+1) ⋈ … ⋈ old(n)
              Each term has one delta, so it is linear in it; the order of the inputs does not matter.
              Unchanged inputs S are joined once to all terms: Δ(R ⋈ S) = Δ(R) ⋈ S.
              If S is small and R has groups: Δ(R|K) ⋈ S with K the keys of S, so that fewer groups are read.
              A table B beside groups j of the same table may be B|K with K the keys touched(j).
    touched   columns that every changed input has or (unless exact) has an equal of: ∪ touched(j), renamed
    restrict  keys go to the input that owns their column and, along equalities, to the others
    source    Zhou, Larson, Elmongui 2007, §3.3: one term per changed input
    tested    tests/laws/test_delta_law.py, tests/laws/test_narrowed_joins_law.py
    """

    inputs: tuple[Relation, ...]
    predicates: tuple[Scalar, ...]
    broadcast: int | None = None  # index of an input small enough to be broadcast

    bag_inputs = NO_BAGS
    groups = False
    if_empty = nothing
    monotone = True
    source_of = from_children
    pruned = kept_whole

    @property
    def at_most_one_row(self) -> bool:
        return all(child.at_most_one_row for child in self.inputs)

    @property
    def label(self) -> str:
        hint = "" if self.broadcast is None else f" (broadcast input {self.broadcast + 1})"
        return (f"InnerJoin {all_shown(self.predicates)}" if self.predicates else "CrossJoin") + hint

    @property
    def strategy(self) -> str:
        return f"linear, one term per changed input of {len(self.inputs)}"

    @cached_property
    def columns(self) -> Columns:
        return tuple(name for child in self.inputs for name in child.columns)

    @property
    def children(self) -> tuple[Relation, ...]:
        return self.inputs

    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        return replace(self, inputs=children)

    def delta(self, d: Derivation) -> Relation:
        changed = [child for child in self.inputs if d.changes(child)]
        narrowed = self._narrowed(changed, d)
        if 1 < len(changed) < len(self.inputs) and self._connected(changed):
            return self._delta_of(changed, narrowed, d)
        return self._terms(narrowed, d)

    def _narrowed(self, changed: list[Relation], d: Derivation) -> dict[int, Relation]:
        """The changing inputs by id, restricted to the keys of small unchanged inputs."""
        stay = [child for child in self.inputs if child not in changed]
        grouped = any(map(has_groups, changed))
        found = {}
        for child in changed:
            rows = child
            for other in stay if grouped else ():
                keys = Keys.of(other, self._equal(child, other))
                if keys and d.narrowing.by_what_stays(child, other):
                    rows = rows.restrict(keys)
            found[id(child)] = rows
        return found

    def _terms(self, narrowed: Mapping[int, Relation], d: Derivation) -> Relation:
        """One term for each changing input, over its restricted rows."""
        terms: list[Relation] = []
        for j, child in enumerate(self.inputs):
            if id(child) not in narrowed:
                continue
            rows = narrowed[id(child)]
            d_j = d.delta(rows)
            inputs = list(self.inputs)
            for i, other in enumerate(self.inputs):
                only: Keys | None = Keys.of(d_j, self._equal(other, child))
                touched = self._keys_read_again(other, child, rows, d) if i != j else None
                if touched:
                    other, only = other.restrict(touched), None
                inputs[i] = d_j if i == j else d.new(other, only) if i < j else d.old(other, only)
            terms.append(replace(self, inputs=tuple(inputs)))
        return total(terms)

    def _keys_read_again(
        self, table: Relation, groups: Relation, rows: Relation, d: Derivation
    ) -> Keys | None:
        """The touched keys of `rows`, a part of groups, in columns equal to a table's; None if not narrowed.

        Only group keys can be found from the changes alone.
        """
        equal = self._equal(table, groups)
        if not d.narrowing.by_what_groups_read(table, groups, [mine for mine, _ in equal]):
            return None
        pairs = [(mine, its) for mine, its in equal if not has_groups(d.touched(rows, (its,)))]
        columns = tuple(dict.fromkeys(its for _, its in pairs))
        return Keys.of(d.touched(rows, columns), pairs) if pairs else None

    def _delta_of(self, changed: list[Relation], narrowed: Mapping[int, Relation], d: Derivation) -> Relation:
        """The delta of the changing inputs, joined with the others."""
        columns = frozenset(name for child in changed for name in child.columns)
        inner = replace(
            self, inputs=tuple(changed), predicates=tuple(p for p in self.predicates if p.columns <= columns)
        )
        delta = inner._terms(narrowed, d)
        others = tuple(
            d.new(child, Keys.of(delta, self._equal(child, inner)))
            for child in self.inputs
            if child not in changed
        )
        outer = tuple(p for p in self.predicates if p not in inner.predicates)
        return replace(self, inputs=(delta, *others), predicates=outer)

    def _connected(self, inputs: list[Relation]) -> bool:
        """Whether equalities connect all inputs; without them, joining these inputs is a cross join."""
        reached, waiting = [inputs[0]], inputs[1:]
        while near := [c for c in waiting if any(self._equalities(c, other) for other in reached)]:
            reached += near
            waiting = [child for child in waiting if child not in near]
        return not waiting

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        found = []
        for child in filter(d.changes, self.inputs):
            equal = {name: name for name in child.columns} if exact else self._equal_columns(child)
            if not set(columns) <= equal.keys():
                return None
            found.append(d.touched_as(child, [(name, equal[name]) for name in columns], exact=exact))
        return total(found)

    @memoized
    def _equal_columns(self, child: Relation) -> dict[str, str]:
        """Columns of the join that equal a column of `child`: name → that column."""
        found = {name: name for name in child.columns}
        pairs = [(left, right) for left, right, _ in filter(None, map(equality, self.predicates))]
        while more := {one: found[other] for a, b in pairs for one, other in ((a, b), (b, a))
                       if other in found and one not in found}:  # fmt: skip
            found |= more
        return found

    def restrict(self, keys: Keys) -> Relation:
        inputs = []
        for i, child in enumerate(self.inputs):
            mine = dict(keys.within(child.columns).pairs)
            for j, other in enumerate(self.inputs):
                if i != j:
                    for name, key in keys.across(self._equal(other, child)).pairs:
                        mine.setdefault(name, key)
            narrowing = Keys.of(keys.source, mine.items())
            inputs.append(child.restrict(narrowing) if narrowing else child)
        narrowed = replace(self, inputs=tuple(inputs))
        owners = [child for child in self.inputs if keys.within(child.columns)]
        return narrowed if len(owners) == 1 else Restricted(narrowed, keys)

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        predicates = chain.from_iterable(map(conjuncts, self.predicates))
        return replace(self, predicates=tuple(map(change, predicates)))

    def _equal(self, one: Relation, other: Relation) -> list[tuple[str, str]]:
        """Pairs (column of `one`, equal column of `other`), also through a third column."""
        equal = self._equal_columns(other)
        return [(name, equal[name]) for name in one.columns if name in equal]

    def _equalities(self, one: Relation, other: Relation) -> list[tuple[str, str]]:
        """The same, but only from predicates between the two."""
        return JoinCondition.of(self.predicates, one.columns, other.columns).left_to_right
