"""Which inputs of a join are cut down before changed groups are read again, told by their sizes.

A view of a few parts joined with sums over all sales: of ten thousand parts whose sums change, maybe ten are
among the few. So only ten sums are looked up in the sales. The few are read once more for it.

If the sales themselves stand in the join as well, those of the ten parts are read once for both.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra import Filter, Relation, Scalar, SemiJoin
from sparkivm.algebra.derivation import Narrowing, is_table
from sparkivm.algebra.relation import has_groups
from sparkivm.algebra.scalar import conjuncts, is_not_null
from sparkivm.plan.join_order import Sizes

# How many times as many rows the tables of the groups have to have, and how many the few may be picked from.
_TIMES_LARGER = 4.0
_MOST_ROWS = 4e6
# Rows of a table that are worth being read once instead of twice.
_LARGE_ROWS = 4e6


@dataclass(frozen=True)
class NarrowedJoins(Narrowing):
    """By what is much smaller and picked out by a condition; and what is large and read for groups anyway."""

    sizes: Sizes

    def by_what_stays(self, changing: Relation, staying: Relation) -> bool:
        rows = self._rows(staying)
        return _is_picked(staying) and rows <= _MOST_ROWS and self._rows(changing) > _TIMES_LARGER * rows

    def by_what_groups_read(self, table: Relation, groups: Relation) -> bool:
        if not is_table(table) or not has_groups(groups):
            return False
        return table.tables <= groups.tables and self._rows(table) >= _LARGE_ROWS

    def _rows(self, relation: Relation) -> float:
        return sum(self.sizes.rows.get(table, 0.0) for table in relation.tables)


def _is_picked(relation: Relation) -> bool:
    """Whether a condition leaves few of its rows, as it seems."""

    def picks(node: Relation) -> bool:
        match node:
            case Filter():
                return not _only_not_null(node.predicate)
            case SemiJoin():
                return not node.anti
            case _:
                return False

    return any(map(picks, relation.walk()))


def _only_not_null(predicate: Scalar) -> bool:
    return all(any(one == is_not_null(name) for name in one.columns) for one in conjuncts(predicate))
