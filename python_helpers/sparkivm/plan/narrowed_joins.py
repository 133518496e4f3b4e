"""Which inputs of a join are cut down before changed groups are read again, told by their sizes.

A view of a few parts joined with sums over all sales: of ten thousand parts whose sums change, maybe ten are
among the few. So only ten sums are looked up in the sales. The few are read once more for it.

If the sales themselves stand in the join as well, those of the ten parts are read once for both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sparkivm.algebra import Filter, Relation, Scalar, SemiJoin, Totals
from sparkivm.algebra.derivation import Narrowing, is_table
from sparkivm.algebra.scalar import conjuncts, is_not_null
from sparkivm.plan.join_order import Sizes

# How many times as many rows the tables of the groups have to have, and how many the few may be picked from:
# in all, and for each row that changed, as few changes are looked up sooner than the few are read.
_TIMES_LARGER = 4.0
_MOST_ROWS = 4e6
_ROWS_PER_CHANGE = 50.0
# Rows of a table that are worth being read once, not twice; values of its keys, so that groups are small.
_LARGE_ROWS = 4e6
_MANY_VALUES = 1e5
# Rows of a table that is sent to every task. To send the changes to it first, they are computed twice.
_SENT_WHOLE_ROWS = 5e4


@dataclass(frozen=True)
class NarrowedJoins(Narrowing):
    """By what is much smaller and picked out by a condition; and what is large and read for groups anyway.

    values  of columns that are equated, as many as are known
    """

    sizes: Sizes
    values: Mapping[str, float] = field(default_factory=dict)

    def by_what_stays(self, changing: Relation, staying: Relation) -> bool:
        rows = self._rows(staying)
        changed = sum(self.sizes.changed.get(table, 0.0) for table in changing.tables)
        few = rows <= min(_MOST_ROWS, _ROWS_PER_CHANGE * changed)
        if not few or self._rows(changing) <= _TIMES_LARGER * rows:
            return False
        # Of other groups, each part of the delta would be narrowed by itself.
        return _is_picked(staying) and all(isinstance(n, Totals) for n in changing.walk() if n.groups)

    def by_what_groups_read(self, table: Relation, groups: Relation, columns: Collection[str]) -> bool:
        if not is_table(table) or not any(isinstance(node, Totals) for node in groups.walk()):
            return False
        rows = self._rows(table)
        # A number that another table has told: that of the table itself says nothing of how large groups are.
        many = any(_MANY_VALUES <= self.values.get(column, 0.0) <= rows / 2 for column in columns)
        return many and table.tables <= groups.tables and rows >= _LARGE_ROWS

    def leaves_whole(self, relation: Relation) -> bool:
        known = relation.tables <= self.sizes.rows.keys()
        return is_table(relation) and known and self._rows(relation) <= _SENT_WHOLE_ROWS

    def _rows(self, relation: Relation) -> float:
        return sum(self.sizes.rows.get(table, 0.0) for table in relation.tables)


def _is_picked(relation: Relation) -> bool:
    """Whether a condition leaves few of its rows, as it seems."""
    return any(
        (isinstance(node, Filter) and not _only_not_null(node.predicate))
        or (isinstance(node, SemiJoin) and not node.anti)
        for node in relation.walk()
    )


def _only_not_null(predicate: Scalar) -> bool:
    return all(any(one == is_not_null(name) for name in one.columns) for one in conjuncts(predicate))
