"""SELECT: new columns computed from each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sparkivm.algebra.linear import Linear
from sparkivm.algebra.moment import moments, shown
from sparkivm.algebra.relation import Columns, Pruned, Relation
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import Scalar, column, null
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import negated, nothing

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class Project(Linear):
    """π(A): one row for each row of A, duplicates kept.

    delta     d π(A) = π(dA); if π reads a moment, ⊎ π₁(A₀) − π₀(A₀)
    touched   π of the values of A that it reads; no rule if it reads none, or a moment that changed
    restrict  π(A)|K = π(A|K) if the key columns are passed on unchanged, else the semi-join stays on top
    needs     expressions deterministic
    source    Budiu et al. 2023 (DBSP): a linear operator is its own delta
    """

    items: tuple[tuple[str, Scalar], ...]  # (name, expression over the input's columns)

    groups = False
    if_empty = nothing
    monotone = True

    @property
    def at_most_one_row(self) -> bool:
        return self.input.at_most_one_row

    @property
    def label(self) -> str:
        texts = [(name, shown(scalar)) for name, scalar in self.items]
        items = (name if text.strip("`") == name else f"{name} = {text}" for name, text in texts)
        return f"Project {', '.join(items)}"

    @property
    def columns(self) -> Columns:
        return tuple(name for name, _ in self.items)

    @cached_property
    def tables(self) -> frozenset[str]:
        return self.input.tables.union(*(moments(scalar) for _, scalar in self.items))

    def delta(self, d: Derivation) -> Relation:
        kept = replace(self, input=d.delta(self.input))
        if not any(d.moves(scalar) for _, scalar in self.items):
            return kept
        new = replace(self, input=d.old(self.input))
        return plus(kept, new, negated(new.before()))

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        items = tuple((name, scalar) for name, scalar in self.items if name in columns)
        read = frozenset().union(*(scalar.columns for _, scalar in items))
        if not read or any(d.moves(scalar) for _, scalar in self.items):
            return None
        computed = any(scalar.as_column is None for _, scalar in items)
        return Project(d.touched(self.input, tuple(sorted(read)), exact=exact or computed), items)

    def restrict(self, keys: Keys) -> Relation:
        passed_on = {name: source for name, scalar in self.items if (source := scalar.as_column) is not None}
        below = keys.within(passed_on)
        narrowed = replace(self, input=self.input.restrict(below.renamed(passed_on))) if below else self
        return narrowed if below == keys else Restricted(narrowed, keys)

    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        return replace(self, items=tuple((name, change(scalar)) for name, scalar in self.items))

    def source_of(self, name: str) -> tuple[Relation, str] | None:
        item = dict(self.items).get(name)
        source = None if item is None else item.as_column
        return None if source is None else (self.input, source)

    def pruned(self, wanted: frozenset[str]) -> Pruned:
        items = tuple(item for item in self.items if item[0] in wanted) or self.items[:1]
        read = frozenset[str]().union(*(scalar.columns for _, scalar in items))
        return (read,), lambda children: Project(children[0], items)


def renamed(relation: Relation, names: Iterable[tuple[str, str]]) -> Project:
    """Columns of a relation under other names: pairs of (new, old)."""
    return Project(relation, tuple((new, column(old)) for new, old in names))


def only(relation: Relation, columns: Iterable[str]) -> Project:
    """Some columns of a relation."""
    return renamed(relation, ((name, name) for name in columns))


def padded(relation: Relation, columns: Iterable[str]) -> Project:
    """The columns of a relation, NULL for those that it lacks."""
    own = frozenset(relation.columns)
    return Project(relation, tuple((name, column(name) if name in own else null()) for name in columns))
