"""How a query changes: what a rule may ask about its inputs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from sparkivm.algebra.keys import Keys
from sparkivm.algebra.memo import memoized
from sparkivm.algebra.moment import moments
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.relation import Columns, Relation, has_groups
from sparkivm.algebra.restricted import Restricted
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.scan import At, Changes, Leaf, Scan
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import Consolidate, Empty, negated, plain


class Narrowing:
    """Which inputs of a join are restricted in advance: none. Any answer is correct; it only affects cost."""

    def by_what_stays(self, changing: Relation, staying: Relation) -> bool:
        """A changing input to the keys of an unchanged one, before its changes are derived."""
        return False

    def by_what_groups_read(self, table: Relation, groups: Relation, columns: Collection[str]) -> bool:
        """A table joined to changes of groups, to the keys by which these groups are read again.

        columns  of the table that equal group keys
        """
        return False

    def leaves_whole(self, relation: Relation) -> bool:
        """Whether changed rows are looked up in the whole relation, without restricting it to their keys."""
        return False


NO_NARROWING = Narrowing()


class Derivation:
    """The delta of one query, given that the tables and moments in `changed` change, and no others.

    The result is algebra over three kinds of leaves: `Changes`, `Scan` at new, `Scan` at old.
    """

    def __init__(self, changed: Collection[str], narrowing: Narrowing = NO_NARROWING) -> None:
        self._changed = frozenset(changed)
        self.narrowing = narrowing

    def changes(self, relation: Relation) -> bool:
        """Whether the relation reads a table that changed."""
        return bool(relation.tables & self._changed)

    def moves(self, scalar: Scalar) -> bool:
        """Whether an expression reads a moment that changed."""
        return bool(moments(scalar) & self._changed)

    @memoized
    def delta(self, relation: Relation) -> Relation:
        """new − old of a relation of the query."""
        return relation.delta(self) if self.changes(relation) else Empty(relation.columns)

    @memoized
    def touched(self, relation: Relation, columns: Columns, *, exact: bool = False) -> Relation:
        """The values of `columns` in the rows of delta(relation), possibly more where that saves a join.

        exact  the exact values, not values that compare equal
        """
        if not self.changes(relation):
            return Empty(columns)
        delta = self.delta(relation)
        if any(isinstance(node, Scan) for node in delta.walk()):
            found = relation.touched(columns, self, exact=exact)
            if found is not None:
                return only(found, columns)
        return only(Consolidate(delta), columns)

    def touched_as(
        self, relation: Relation, names: Sequence[tuple[str, str]], *, exact: bool = False
    ) -> Relation:
        """The same under other names: pairs of (new, column of `relation`); a column may occur in several."""
        columns = tuple(dict.fromkeys(column for _, column in names))
        return renamed(self.touched(relation, columns, exact=exact), names)

    def new(self, relation: Relation, only: Keys | None = None) -> Relation:
        """The relation at the target versions, a bag; with `only`, at least its rows with these keys."""
        return narrowed(relation, only)

    def looked_up(self, relation: Relation, keys: Keys | None) -> Relation:
        """The relation at the target versions, for an operator that needs only rows with these keys."""
        if not keys or self.narrowing.leaves_whole(relation):
            return relation
        return relation.restrict(keys)

    def old(self, relation: Relation, only: Keys | None = None) -> Relation:
        """The relation at the frontier, possibly as an unconsolidated Z-set; for linear use."""
        return self._old(narrowed(relation, only))

    def old_bag(self, relation: Relation, only: Keys | None = None) -> Relation:
        """The relation at the frontier as a plain bag, for operators that are not linear in it."""
        return self._old_bag(narrowed(relation, only))

    @memoized
    def _old(self, relation: Relation) -> Relation:
        """Old = new ⊎ −delta at the leaves: as cheap as new, and no old version is read."""
        if not self.changes(relation):
            return relation
        match relation:
            case Scan():
                return plus(relation, negated(Changes(relation.table, relation.fields)))
            case Leaf():
                return relation
            case Restricted():
                return replace(relation, input=self._old(relation.input))
        own = relation.old(self)
        if own is not None:
            return own
        inputs = tuple(
            self._old_bag(child) if index in relation.bag_inputs else self._old(child)
            for index, child in enumerate(relation.children)
        )
        return relation.with_children(inputs).before()

    @memoized
    def _old_bag(self, relation: Relation) -> Relation:
        """A restricted part is computed from its new rows and the delta. A whole table is read at old."""
        if not self.changes(relation):
            return relation
        match relation:
            case Scan():
                return Scan(relation.table, relation.fields, At.OLD)
            case Leaf():
                return relation
            case Restricted():
                return plain(replace(relation, input=self._old(relation.input)))
        return (
            relation.old(self)
            or relation.with_children(tuple(map(self._old_bag, relation.children))).before()
        )


def narrowed(relation: Relation, keys: Keys | None) -> Relation:
    """A relation restricted to keys; a bare table stays whole, because the following join narrows it too."""
    if not keys or is_table(relation):
        return relation
    return relation.restrict(keys)


def is_table(relation: Relation) -> bool:
    """Whether it reads one table, row by row."""
    return all(len(node.children) <= 1 for node in relation.walk()) and not has_groups(relation)
