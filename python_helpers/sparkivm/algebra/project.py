"""SELECT: new columns computed from each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkivm.algebra.linear import Linear
from sparkivm.algebra.relation import Columns, Relation
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import Scalar, column

if TYPE_CHECKING:
    from sparkivm.algebra.keys import Keys


@dataclass(frozen=True, eq=False)
class Project(Linear):
    """π(A): one row for each row of A, equal rows kept.

    delta     d π(A) = π(dA)
    restrict  π(A)|K = π(A|K) if the key columns are passed on unchanged, else the semi-join stays on top
    needs     expressions deterministic
    source    docs/laws.md [1]
    """

    items: tuple[tuple[str, Scalar], ...]  # (name, expression over the input's columns)

    @property
    def columns(self) -> Columns:
        return tuple(name for name, _ in self.items)

    def restrict(self, keys: Keys) -> Relation:
        passed_on = {name: source for name, scalar in self.items if (source := scalar.as_column) is not None}
        below = keys.within(passed_on)
        narrowed = replace(self, input=self.input.restrict(below.renamed(passed_on))) if below else self
        return narrowed if below == keys else Restricted(narrowed, keys)


def renamed(relation: Relation, names: Iterable[tuple[str, str]]) -> Project:
    """Columns of a relation under other names: pairs of (new, old)."""
    return Project(relation, tuple((new, column(old)) for new, old in names))


def only(relation: Relation, columns: Iterable[str]) -> Project:
    """Some columns of a relation."""
    return renamed(relation, ((name, name) for name in columns))
