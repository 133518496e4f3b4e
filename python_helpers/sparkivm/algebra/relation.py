"""What an operator can say of itself: its columns, how it changes, how it narrows to some keys."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sparkivm.errors import InternalError

if TYPE_CHECKING:
    from sparkivm.algebra.derivation import Derivation
    from sparkivm.algebra.keys import Keys

Columns = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Relation(ABC):
    """A bag of rows, or, if `weighted`, a Z-set: rows with a signed multiplicity in the hidden weight column.

    Relations are compared by identity: one that stands in a plan several times is shared, and may be
    computed once. Column names are unique among the relations that a join brings together, so expressions
    need no qualifiers.
    """

    @property
    @abstractmethod
    def columns(self) -> Columns:
        """Names of the columns in order, the weight left out."""

    @property
    @abstractmethod
    def children(self) -> tuple[Relation, ...]:
        """The relations that it is computed from."""

    @abstractmethod
    def with_children(self, children: tuple[Relation, ...]) -> Relation:
        """The same operator over other inputs that have the columns it needs."""

    @property
    def weighted(self) -> bool:
        return any(child.weighted for child in self.children)

    @property
    def bag_inputs(self) -> frozenset[int]:
        """Indexes of the children that have to be plain bags, because the operator is not linear in them."""
        return frozenset()

    @property
    def groups(self) -> bool:
        """Whether rows of the input are combined into one."""
        return False

    def before(self) -> Relation:
        """The same operator over the same inputs, its own expressions at the moments of the frontier."""
        return self

    @abstractmethod
    def delta(self, d: Derivation) -> Relation:
        """The Z-set `new − old` of this relation."""

    @abstractmethod
    def restrict(self, keys: Keys) -> Relation:
        """The rows whose key is among `keys`, the restriction as far towards the scans as is right."""

    def old(self, d: Derivation) -> Relation | None:
        """The bag that this relation was, from what it is and its changes.

        None if there is no other way than the same operator over the inputs as they were.
        """
        return None

    def touched(self, columns: Columns, d: Derivation, *, exact: bool) -> Relation | None:
        """A relation of `columns` that holds at least those of each row of the delta, cheaper than the delta.

        None if there is no such relation.

        exact  the values themselves. To find keys those that equal them are enough, which may be of another
               type: to an expression 1.00 is not 1, nor is -0.0 the same as 0.0.
        """
        return None

    @cached_property
    def tables(self) -> frozenset[str]:
        """Keys of the source tables, and of the moments, that it reads."""
        return frozenset().union(*(child.tables for child in self.children))

    def walk(self) -> Iterator[Relation]:
        """Every relation below and including this one, each once, children first."""
        seen: set[int] = set()
        found: list[Relation] = []

        def visit(relation: Relation) -> None:
            if id(relation) in seen:
                return
            seen.add(id(relation))
            for child in relation.children:
                visit(child)
            found.append(relation)

        visit(self)
        return iter(found)


@dataclass(frozen=True, eq=False)
class Derived(Relation):
    """A relation that stands in derived plans only: it is part of a delta, and has none of its own."""

    def delta(self, d: Derivation) -> Relation:
        raise InternalError(f"{type(self).__name__} is part of a delta already")


def rewrite(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """Apply `change` to every relation, children first; what is shared stays shared."""
    done: dict[int, tuple[Relation, Relation]] = {}

    def visit(node: Relation) -> Relation:
        if id(node) in done:
            return done[id(node)][1]
        children = tuple(visit(child) for child in node.children)
        same = all(new is old for new, old in zip(children, node.children, strict=True))
        result = change(node if same else node.with_children(children))
        done[id(node)] = (node, result)  # the node is kept alive, so that its id stays its own
        return result

    return visit(relation)


def has_groups(relation: Relation) -> bool:
    """Whether rows are combined anywhere in it: changed groups are read again."""
    return any(node.groups for node in relation.walk())
