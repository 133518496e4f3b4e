"""What each operator defines: its columns, how it changes, and what passes ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sparkivm.algebra.moment import before
from sparkivm.algebra.scalar import Scalar
from sparkivm.errors import InternalError

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys

Columns = tuple[str, ...]
# The columns read of each child, in order where that matters; and how to rebuild the operator over them.
Pruned = tuple[tuple[frozenset[str] | Columns, ...], Callable[[tuple["Relation", ...]], "Relation"]]

# The operator is linear in all of its inputs.
NO_BAGS = frozenset[int]()


@dataclass(frozen=True, eq=False)
class Relation(ABC):
    """A bag of rows, or, if `weighted`, a Z-set: rows with a signed multiplicity in the hidden weight column.

    Relations are compared by identity: one that occurs several times in a plan is shared, and may be
    computed once. Column names are unique among the relations that a join combines, so expressions need no
    qualifiers.

    A member is abstract if no default is right for all operators: each operator defines it in its file.
    """

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """Names of the columns in order, without the weight."""

    @property
    @abstractmethod
    def children(self) -> tuple[Relation, ...]:
        """The relations that it is computed from."""

    @abstractmethod
    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        """The same operator over other inputs, which have the columns that it needs."""

    @property
    def weighted(self) -> bool:
        """Whether its rows have weights; by default, if an input's rows have."""
        return any(child.weighted for child in self.children)

    @property
    @abstractmethod
    def bag_inputs(self) -> frozenset[int]:
        """Indexes of the children that must be plain bags, because the operator is not linear in them."""

    @property
    @abstractmethod
    def groups(self) -> bool:
        """Whether rows of the input are combined into one."""

    @property
    @abstractmethod
    def monotone(self) -> bool:
        """Whether more input rows never remove a row of the result."""

    @property
    @abstractmethod
    def at_most_one_row(self) -> bool:
        """Whether it has at most one row, whatever its sources contain."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What it does, in one line."""

    @property
    @abstractmethod
    def strategy(self) -> str:
        """How its delta is derived; empty for sources and for operators without a delta."""

    @abstractmethod
    def map_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        """The operator with each of its expressions changed; predicates are changed conjunct by conjunct."""

    @abstractmethod
    def source_of(self, name: str) -> tuple[Relation, str] | None:
        """The column of a child that this column passes on unchanged.

        None if the column is read or computed here, or comes from several branches of a union.
        """

    @abstractmethod
    def pruned(self, wanted: frozenset[str]) -> Pruned:
        """What it reads for the columns in `wanted`, and the operator without what only others need."""

    @abstractmethod
    def if_empty(self, gone: Sequence[bool]) -> Relation:
        """What it becomes if the children for which `gone` is true (at least one) have no rows."""

    def before(self) -> Relation:
        """The same operator over the same inputs, with its own expressions at the frontier's moments."""
        return self.with_scalars(before)

    @abstractmethod
    def delta(self, d: Derivation) -> Relation:
        """The Z-set `new − old` of this relation."""

    @abstractmethod
    def restrict(self, keys: Keys) -> Relation:
        """The rows whose key is among `keys`, restricted as close to the scans as is correct."""

    def old(self, d: Derivation) -> Relation | None:
        """The bag that this relation was, computed from the new one and its changes.

        None if the only way is the same operator over the old inputs.
        """
        return None

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        """A relation of `columns` that holds at least the values of the delta's rows, cheaper than the delta.

        None if there is no such relation.

        exact  the exact values. To find keys, values that compare equal are enough; their type may differ. In
               an expression 1.00 differs from 1, and -0.0 from 0.0.
        """
        return None

    @property
    def scalars(self) -> list[Scalar]:
        """Its expressions; predicates conjunct by conjunct."""
        found: list[Scalar] = []

        def kept(scalar: Scalar) -> Scalar:
            found.append(scalar)
            return scalar

        self.map_scalars(kept)
        return found

    def with_scalars(self, change: Callable[[Scalar], Scalar]) -> Relation:
        """The operator with each of `scalars` changed; the same object if none changes."""
        changed: list[bool] = []

        def tried(scalar: Scalar) -> Scalar:
            new = change(scalar)
            changed.append(new is not scalar)
            return new

        new = self.map_scalars(tried)
        return new if any(changed) else self

    def origin(self, name: str) -> tuple[Relation, str]:
        """The relation where a column originates unchanged, and its name there.

        That is where it is read or computed, or a UNION ALL. A column of an outer query originates here.
        """
        source = self.source_of(name)
        return (self, name) if source is None else source[0].origin(source[1])

    @cached_property
    def tables(self) -> frozenset[str]:
        """Keys of the source tables, and of the moments, that it reads."""
        return frozenset().union(*(child.tables for child in self.children))

    def walk(self) -> Iterator[Relation]:
        """This relation and every one below it, each once, children first."""
        found: dict[Relation, None] = {}

        def visit(relation: Relation) -> None:
            if relation not in found:
                for child in relation.children:
                    visit(child)
                found[relation] = None

        visit(self)
        return iter(found)


@dataclass(frozen=True, eq=False)
class Derived(Relation):
    """A relation that occurs only in derived plans: it is part of a delta, and has no delta of its own."""

    strategy = ""

    def delta(self, d: Derivation) -> Relation:
        raise InternalError(f"{self.label} is part of a delta already")


def kept_whole(relation: Relation, wanted: frozenset[str]) -> Pruned:
    """The `pruned` of an operator that stays the same, whichever passed-on columns are wanted."""
    read = wanted.union(*(scalar.columns for scalar in relation.scalars))
    return (read,) * len(relation.children), relation.with_children


def from_children(relation: Relation, name: str) -> tuple[Relation, str] | None:
    """The `source_of` of an operator that passes on the columns of its children, and may add others."""
    return passed_on(name, *relation.children)


def stays(relation: Relation, gone: Sequence[bool]) -> Relation:
    """The `if_empty` of an operator that is not simplified."""
    return relation


def no_scalars(relation: Relation, change: Callable[[Scalar], Scalar]) -> Relation:
    """The `map_scalars` of an operator without expressions."""
    return relation


def passed_on(name: str, *children: Relation) -> tuple[Relation, str] | None:
    """The column of this name in the child that has one."""
    return next(((child, name) for child in children if name in child.columns), None)


def rewrite(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """Apply `change` to every relation, children first; shared relations stay shared."""
    done: dict[Relation, Relation] = {}

    def visit(node: Relation) -> Relation:
        if node not in done:
            children = tuple(map(visit, node.children))
            same = all(new is old for new, old in zip(children, node.children, strict=True))
            done[node] = change(node if same else node.with_children(children))
        return done[node]

    return visit(relation)


def has_groups(relation: Relation) -> bool:
    """Whether rows are combined anywhere in it, so that changed groups are read again."""
    return any(node.groups for node in relation.walk())


def keeps_append_only(relation: Relation) -> bool:
    """Whether it only gains rows when its sources only gain rows."""
    return all(node.monotone for node in relation.walk())
