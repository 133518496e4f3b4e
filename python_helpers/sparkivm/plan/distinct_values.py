"""How many distinct values a join column has: a guess without statistics.

Equated columns have the values of the smallest table among them: customers and suppliers joined by nation
have as many nations as the table of nations has rows, whatever names subqueries give the columns. This
distinguishes a lookup by key from a join that multiplies rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from sparkivm.algebra import InnerJoin, LeftJoin, Project, Relation, Scan, SemiJoin
from sparkivm.algebra.scalar import equality


def distinct_values(relation: Relation, rows: Mapping[str, float]) -> dict[str, float]:
    """The number of values of each column that is equated in `relation`; `rows` by table."""
    parents: dict[str, str] = {}

    def root(column: str) -> str:
        while (parent := parents.setdefault(column, column)) != column:
            column = parent
        return column

    for one, other in (*_equal_columns(relation), *_other_names(relation)):
        parents[root(one)] = root(other)
    fewest: dict[str, float] = {}
    for node in relation.walk():
        if isinstance(node, Scan) and node.table in rows:
            for column in parents.keys() & set(node.columns):
                top = root(column)
                fewest[top] = min(fewest.get(top, rows[node.table]), rows[node.table])
    return {column: fewest[root(column)] for column in list(parents) if root(column) in fewest}


def _equal_columns(relation: Relation) -> Iterator[tuple[str, str]]:
    for node in relation.walk():
        if isinstance(node, InnerJoin):
            for one, other, _ in filter(None, map(equality, node.predicates)):
                yield one, other
        elif isinstance(node, (LeftJoin, SemiJoin)):
            yield from node.on.left_to_right


def _other_names(relation: Relation) -> Iterator[tuple[str, str]]:
    """(name, name below) of columns, except names that union branches give to different columns."""
    found = defaultdict[str, set[str]](set)
    for node in relation.walk():
        if isinstance(node, Project):
            for name, scalar in node.items:
                found[name].add(scalar.as_column or "")
    for name, columns in found.items():
        if len(columns) == 1 and (column := columns.pop()):
            yield name, column
