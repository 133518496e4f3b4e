"""Which rows of a table a plan can need, derived from the changed values that its columns are compared with.

We go down a plan from its root. Joins and lookups give conditions that the needed rows satisfy. If a column
is compared only with values from changes, rows with other values are not needed.

Law: a plan gives the same rows if a table is restricted to the rows for which one of its `Need`s holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain

from sparkivm import algebra as ra
from sparkivm.algebra import At, JoinCondition, Pair, Relation, operator
from sparkivm.algebra.memo import memoized
from sparkivm.errors import no_rule
from sparkivm.plan.state import STAGED


@dataclass(frozen=True)
class ChangedColumn:
    """A column of the rows that changed in a table."""

    table: str
    field: str


@dataclass(frozen=True)
class Within:
    """`column` has a value that occurs in one of `changed`, or, with `or_null`, is NULL."""

    column: str
    changed: frozenset[ChangedColumn]
    or_null: bool


# A conjunction, over a table's fields, that holds for the rows that one of its readers needs.
Need = frozenset[Within]


def needs(relation: Relation, staged: Relation | None = None) -> dict[str, frozenset[Need]]:
    """The needs of each table's readers; one that reads all rows has the empty need.

    staged  the relation that the plan reads as the table STAGED
    """
    found = _Needs(staged)
    found.visit(relation, frozenset())
    return {table: frozenset(all_of_them) for table, all_of_them in found.by_table.items()}


class _Needs:
    def __init__(self, staged: Relation | None) -> None:
        self.by_table: dict[str, set[Need]] = {}
        self._staged = staged
        self._visited: set[tuple[int, Need]] = set()

    def visit(self, node: Relation, wanted: Need) -> None:
        """Go down with conditions that hold for the needed rows of `node`."""
        if (id(node), wanted) in self._visited:
            return
        self._visited.add((id(node), wanted))
        if isinstance(node, ra.Scan):
            if node.at is At.NEW:
                fields = dict(node.fields)
                need = frozenset(replace(one, column=fields[one.column]) for one in wanted)
                self.by_table.setdefault(node.table, set()).add(need)
            return
        for child, passed_on in self._below(node, wanted):
            self.visit(child, frozenset(one for one in passed_on if one.column in child.columns))

    def _below(self, node: Relation, wanted: Need) -> Iterator[tuple[Relation, Iterable[Within]]]:
        """Each child, and the conditions that hold for its needed rows."""
        node = operator(node)
        match node:
            case ra.Filter() | ra.Generate() | ra.Weigh() | ra.Consolidate() | ra.Unweigh():
                yield node.input, wanted
            case ra.Project():
                source = {name: scalar.as_column for name, scalar in node.items}
                yield node.input, [replace(w, column=of) for w in wanted if (of := source[w.column])]
            case ra.UnionAll():
                yield from ((child, wanted) for child in node.inputs)
            case ra.Aggregate():
                yield node.input, [one for one in wanted if one.column in node.keys]
            case ra.InnerJoin():
                for child in node.inputs:
                    met = (
                        self._met(other, _pairs(node, child, other), wanted)
                        for other in node.inputs
                        if other is not child
                    )
                    yield child, chain(wanted, *met)
            case ra.SemiJoin() | ra.LeftJoin():
                matched = isinstance(node, ra.SemiJoin) and not node.anti
                yield node.left, [*wanted, *(self._met(node.right, node.on.pairs) if matched else ())]
                yield node.right, self._met(node.left, node.on.flipped.pairs, wanted)
            case ra.Restricted():
                among = () if node.excluded else node.keys.comparisons
                yield node.input, [*wanted, *self._met(node.keys.source, among)]
                yield node.keys.source, ()
            case ra.Slice():
                for lookup in node.lookups:
                    yield node.input, [*wanted, *self._met(lookup.keys, lookup.pairs)]
                    yield lookup.keys, ()
            case ra.Repeat() | ra.FullJoin() | ra.Window() | ra.Copies():
                yield from ((child, ()) for child in node.children)
            case ra.Scan() | ra.Changes() | ra.OneRow() | ra.Empty():
                pass
            case _:
                raise no_rule(node)

    def _met(self, other: Relation, pairs: Iterable[Pair], wanted: Iterable[Within] = ()) -> Iterator[Within]:
        """Conditions for rows that match a row of `other` for which `wanted` holds.

        pairs  of (mine, other's)
        """
        for pair in pairs:
            changed = self._origin(other, pair.right)
            if changed is not None:
                yield Within(pair.left, changed, pair.null_safe)
            for one in wanted:
                if one.column == pair.right:
                    yield Within(pair.left, one.changed, one.or_null and pair.null_safe)

    @memoized
    def _origin(self, node: Relation, column: str) -> frozenset[ChangedColumn] | None:
        """Changed columns that contain all non-NULL values of a column; None if it may have others."""
        node = operator(node)
        match node:
            case ra.Changes():
                return frozenset({ChangedColumn(node.table, dict(node.fields)[column])})
            case ra.Scan() if node.table == STAGED and self._staged is not None:
                return self._origin(self._staged, dict(node.fields)[column])
            case (
                ra.Filter() | ra.Project() | ra.Generate() | ra.LeftJoin() | ra.SemiJoin() | ra.Aggregate()
                | ra.Weigh() | ra.Consolidate() | ra.Unweigh()
            ):  # fmt: skip
                source = node.source_of(column)
                return self._origin(*source) if source else None
            case ra.UnionAll():
                found = [self._origin(child, column) for child in node.inputs]
                known = [one for one in found if one is not None]
                return frozenset().union(*known) if len(known) == len(found) else None
            case ra.Empty():
                return frozenset()
            case ra.InnerJoin():
                return self._of_a_join(node, column)
            case ra.Restricted():
                among = {pair.left: pair.right for pair in node.keys.comparisons} if not node.excluded else {}
                own = self._origin(node.input, column)
                return (
                    self._origin(node.keys.source, among[column]) if own is None and column in among else own
                )
            case (
                ra.Scan() | ra.OneRow() | ra.Repeat() | ra.FullJoin() | ra.Window() | ra.Slice() | ra.Copies()
            ):
                return None
            case _:
                raise no_rule(node)

    def _of_a_join(self, node: ra.InnerJoin, column: str) -> frozenset[ChangedColumn] | None:
        (owner,) = (child for child in node.inputs if column in child.columns)
        own = self._origin(owner, column)
        equal = (
            self._origin(other, pair.right)
            for other in node.inputs
            if other is not owner
            for pair in _pairs(node, owner, other)
            if pair.left == column
        )
        return next((one for one in (own, *equal) if one is not None), None)


def _pairs(join: ra.InnerJoin, one: Relation, other: Relation) -> tuple[Pair, ...]:
    return JoinCondition.of(join.predicates, one.columns, other.columns).pairs
