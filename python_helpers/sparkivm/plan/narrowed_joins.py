"""Which inputs of a join are restricted before changed groups are read again, decided by size.

Take a view that joins a few parts with sums over all sales: of ten thousand parts whose sums change, maybe
ten are among the few. Then only ten sums are looked up in the sales; the few parts are read once more for it.

If the sales themselves are also in the join, those of the ten parts are read once for both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sparkivm.algebra import Filter, Relation, Scalar, SemiJoin, Totals
from sparkivm.algebra.derivation import Narrowing, is_table
from sparkivm.algebra.scalar import conjuncts, is_not_null
from sparkivm.plan.join_order import Sizes

# How many times more rows the groups' tables must have, and how many rows the few may be picked from: in
# total, and per changed row, because few changes are looked up faster than the few are read.
_TIMES_LARGER = 4.0
_MOST_ROWS = 4e6
_ROWS_PER_CHANGE = 50.0
# Rows of a table for which one read instead of two pays; and key values, so that groups are small.
_LARGE_ROWS = 4e6
_MANY_VALUES = 1e5
# A table up to this size is broadcast whole; restricting it first would compute the changes twice.
_SENT_WHOLE_ROWS = 5e4


@dataclass(frozen=True)
class NarrowedJoins(Narrowing):
    """Restricts by what is much smaller and filtered, and restricts what is large and read for groups anyway.

    values  number of values of equated columns, as far as known
    """

    sizes: Sizes
    values: Mapping[str, float] = field(default_factory=dict)

    def by_what_stays(self, changing: Relation, staying: Relation) -> bool:
        rows = self._rows(staying)
        changed = sum(self.sizes.changed.get(table, 0.0) for table in changing.tables)
        few = rows <= min(_MOST_ROWS, _ROWS_PER_CHANGE * changed)
        if not few or self._rows(changing) <= _TIMES_LARGER * rows:
            return False
        # For other groups, each part of the delta would be restricted separately.
        return _is_picked(staying) and all(isinstance(n, Totals) for n in changing.walk() if n.groups)

    def by_what_groups_read(self, table: Relation, groups: Relation, columns: Collection[str]) -> bool:
        if not is_table(table) or not any(isinstance(node, Totals) for node in groups.walk()):
            return False
        rows = self._rows(table)
        # The number must come from another table: the table's own rows say nothing about group sizes.
        many = any(_MANY_VALUES <= self.values.get(column, 0.0) <= rows / 2 for column in columns)
        return many and table.tables <= groups.tables and rows >= _LARGE_ROWS

    def leaves_whole(self, relation: Relation) -> bool:
        known = relation.tables <= self.sizes.rows.keys()
        return is_table(relation) and known and self._rows(relation) <= _SENT_WHOLE_ROWS

    def _rows(self, relation: Relation) -> float:
        return sum(self.sizes.rows.get(table, 0.0) for table in relation.tables)


def _is_picked(relation: Relation) -> bool:
    """Whether a condition probably leaves few of its rows."""
    return any(
        (isinstance(node, Filter) and not _only_not_null(node.predicate))
        or (isinstance(node, SemiJoin) and not node.anti)
        for node in relation.walk()
    )


def _only_not_null(predicate: Scalar) -> bool:
    return all(any(one == is_not_null(name) for name in one.columns) for one in conjuncts(predicate))
