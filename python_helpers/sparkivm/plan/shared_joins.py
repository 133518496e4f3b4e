"""Joins that several views of a run contain. Their changes are computed once.

A plain view, such as `orders join lineitem`, is replaced by its text in every model that reads it. Without
this, each of these models computes the changes of the join again.

Let J = R ⋈ S, and read J like a table with its own changes:
    Δ(… R ⋈ S …) = Δ(… J …)  with  Changes J := Δ(R ⋈ S)

source  one result for several queries (multi-query optimization): Mistry, Roy, Ramamritham, Sudarshan 2001
tested  tests/laws/test_shared_joins_law.py, tests/refresh/test_shared_joins.py
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import product

from sparkivm.algebra import At, Changes, Filter, InnerJoin, Relation, Scalar, Scan, Unweigh
from sparkivm.algebra.columns_read import columns_read
from sparkivm.algebra.moment import is_moment
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import conjuncts, equality
from sparkivm.digest import digest
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.state_change import StateChange
from sparkivm.plan.steps import STEP_WEIGHT, rows_of_step

_KEY = f"{RESERVED_PREFIX}join_"
_MOST_CHOICES = 64  # of inputs, where a query reads the same tables repeatedly


@dataclass(frozen=True, eq=False)
class SharedJoin:
    """An inner join of different tables, each read once, possibly filtered."""

    relation: InnerJoin

    @cached_property
    def key(self) -> str:
        """The name under which plans read it. Equal for joins with the same rows and columns."""
        meaning = (sorted(self.tables), sorted(self.conditions), sorted(self.columns))
        return _KEY + digest(repr(meaning))

    @property
    def tables(self) -> frozenset[str]:
        return self.relation.tables

    @property
    def conditions(self) -> Set[str]:
        """What its rows satisfy, with columns as by `column_of`."""
        return self._parts.conditions.keys()

    @cached_property
    def columns(self) -> Mapping[str, str]:
        """The columns, as by `column_of` → their names here."""
        return {name: column for column, name in self._parts.names.items()}

    @cached_property
    def _parts(self) -> _Parts:
        return _taken_apart(self.relation, self.relation.inputs)

    def changes(self, delta: Relation) -> Relation:
        """Its delta with the weights in a column, as `computed` reads it."""
        return Unweigh(delta, STEP_WEIGHT)


def column_of(table: str, field: str) -> str:
    """The name of a table's column in `SharedJoin.columns`."""
    return f"{table}\n{field}"  # a dot may be in both


def shared_joins(relation: Relation) -> Iterator[SharedJoin]:
    """The joins of tables in a relation in normal form."""
    for node in relation.walk():
        if isinstance(node, InnerJoin) and _is_of_tables(node):
            yield SharedJoin(node)


def read_from(relation: Relation, joins: Collection[SharedJoin]) -> Relation:
    """The relation with joins of tables read as tables: a join may contain more tables and conditions."""

    def change(node: Relation) -> Relation:
        found = (_over(node, join) for join in joins) if isinstance(node, InnerJoin) else ()
        over = next(filter(None, found), None)
        return node if over is None else change(over)  # it may contain the join again

    return rewrite(relation, change) if joins else relation


def looks_up(change: StateChange, joins: Collection[str]) -> bool:
    """Whether a change reads rows of these joins, not only their changes."""
    return any(joins & columns_read(part, Scan).keys() for part in change.parts)


def computed(change: StateChange, joins: Collection[str]) -> StateChange:
    """The change for a statement that finds the changes of these joins under their keys."""

    def read(node: Relation) -> Relation:
        if isinstance(node, Changes) and node.table in joins:
            return rows_of_step(node.table, node.columns, dict(node.fields), weighted=True)
        return node

    rows, staged = rewrite(change.rows, read), change.staged
    return replace(change, rows=rows, staged=None if staged is None else rewrite(staged, read))


@dataclass(frozen=True)
class _Parts:
    """Some inputs of a join, each a table.

    names       their columns → these as by `column_of`
    conditions  on them alone, by their texts with these names
    others      predicates that read other inputs too
    """

    names: Mapping[str, str]
    conditions: Mapping[str, Scalar]
    others: tuple[Scalar, ...]


def _taken_apart(join: InnerJoin, inputs: Collection[Relation]) -> _Parts:
    scans = [scan for child in inputs if (scan := _scan(child))]
    names = {name: column_of(scan.table, field) for scan in scans for name, field in scan.fields}
    predicates = [part for predicate in join.predicates for part in conjuncts(predicate)]
    inside = [part for part in predicates if part.columns <= names.keys()]
    filters = [part for child in inputs for part in _filters(child)]
    return _Parts(
        names,
        {_text(part, names): part for part in (*filters, *inside)},
        tuple(part for part in predicates if part not in inside),
    )


def _over(node: InnerJoin, join: SharedJoin) -> Relation | None:
    """The node with `join` as one input; None if it does not contain the join."""
    reading: dict[str, list[Relation]] = {table: [] for table in join.tables}
    for child in node.inputs:
        if (scan := _scan(child)) and scan.table in reading:
            reading[scan.table].append(child)
    if math.prod(map(len, reading.values())) > _MOST_CHOICES:
        return None
    for inputs in product(*reading.values()):
        parts = _taken_apart(node, inputs)
        if join.conditions <= parts.conditions.keys() and join.columns.keys() >= set(parts.names.values()):
            break
    else:
        return None
    rows: Relation = Scan(join.key, tuple((name, join.columns[of]) for name, of in parts.names.items()))
    more = (part for text, part in parts.conditions.items() if text not in join.conditions)
    rows = reduce(Filter, more, rows)
    others = tuple(child for child in node.inputs if child not in inputs)
    return InnerJoin((rows, *others), parts.others) if others else rows


def _is_of_tables(join: InnerJoin) -> bool:
    scans = [_scan(child) for child in join.inputs]
    tables = {scan.table for scan in scans if scan is not None}
    return len(tables) == len(scans) and not any(map(is_moment, join.tables))


def _scan(relation: Relation) -> Scan | None:
    """The table that an input of a join reads, if that is all it does, apart from filters."""
    while isinstance(relation, Filter):
        relation = relation.input
    return relation if isinstance(relation, Scan) and relation.at is At.NEW else None


def _filters(relation: Relation) -> Iterable[Scalar]:
    while isinstance(relation, Filter):
        yield from conjuncts(relation.predicate)
        relation = relation.input


def _text(condition: Scalar, names: Mapping[str, str]) -> str:
    """A condition in the tables' names; the same for both directions of an equality."""
    renamed = condition.rename({name: names[name] for name in condition.columns})
    if pair := equality(renamed):
        one, other = sorted(pair[:2])
        return f"{one} {'<=>' if pair[2] else '='} {other}"
    return renamed.sql("spark")
