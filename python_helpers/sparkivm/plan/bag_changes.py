"""How the delta of a core changes a bag state: copies to add, copies to delete."""

from __future__ import annotations

from sparkivm.algebra import (
    Aggregate,
    Call,
    Consolidate,
    Copies,
    Derivation,
    Filter,
    JoinCondition,
    Keys,
    LeftJoin,
    Pair,
    Project,
    Relation,
    Unweigh,
    Weigh,
)
from sparkivm.algebra.aggregates.count import COUNT_ROWS
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.state import WEIGHT_COLUMN, BagState, stored

MATCH = f"{RESERVED_PREFIX}match"
_STORED = f"{RESERVED_PREFIX}stored"


def changes(state: BagState, d: Derivation) -> Relation:
    """dV under the table's column names, one row per value, with its weight in WEIGHT_COLUMN."""
    return Unweigh(Consolidate(renamed(d.delta(state.core), state.columns)), WEIGHT_COLUMN)


def appended(state: BagState, changed: Relation) -> Relation:
    """The copies to insert, for changes that delete nothing; a negative weight is an error."""
    return _copies(state, _not_negative(changed, "a row would be deleted that no refresh inserted"))


def replaced(state: BagState, changed: Relation, part: Keys | None = None) -> Relation:
    """The whole state after the change: V₁ = V₀ ⊎ dV. With `part`, only its rows with these keys.

    law  V₁|K = V₀|K ⊎ dV|K, and V₁ = V₀ outside K if K contains the keys of dV. Any columns can be the key.
    """
    net = Unweigh(Consolidate(plus(stored(state, part), _weighed(state, changed))), WEIGHT_COLUMN)
    return _copies(state, _not_negative(net, "the state lacks a row that has to be deleted"))


def merged(state: BagState, changed: Relation) -> Relation:
    """Rows with the column MATCH: true, delete all stored copies of the row; false, insert it.

    Values that lose copies are deleted with all their copies, and the remaining copies are inserted again.

    So the state may contain equal rows and needs no key.
    """
    less = Filter(changed, expression("w < 0", w=WEIGHT_COLUMN))
    more = Filter(changed, expression("w > 0", w=WEIGHT_COLUMN))
    keys = Keys.of(less, ((name, name) for name in state.names))
    counts = Aggregate(stored(state, keys), state.names, (Call(_STORED, COUNT_ROWS),))
    counted = renamed(
        counts, [*((f"{RESERVED_PREFIX}s_{i}", n) for i, n in enumerate(state.names)), (_STORED, _STORED)]
    )
    pairs = tuple(Pair(n, f"{RESERVED_PREFIX}s_{i}", null_safe=True) for i, n in enumerate(state.names))
    joined = LeftJoin(less, counted, JoinCondition(pairs))
    left_over = expression("coalesce(s, 0) + w", s=_STORED, w=WEIGHT_COLUMN)
    remaining = Project(joined, (*((n, column(n)) for n in state.names), (WEIGHT_COLUMN, left_over)))
    checked = _not_negative(remaining, "the state lacks a row that has to be deleted")
    inserted = _copies(state, plus(checked, more))
    return plus(_marked(only(less, state.names), "true"), _marked(inserted, "false"))


def _weighed(state: BagState, counted: Relation) -> Relation:
    """Rows with a weight column as a Z-set."""
    return only(Weigh(counted, column(WEIGHT_COLUMN)), state.names)


def _copies(state: BagState, counted: Relation) -> Relation:
    """Rows with a weight column, without negative weights, as plain copies."""
    return Copies(_weighed(state, counted))


def _not_negative(counted: Relation, error: str) -> Relation:
    checked = f"case when w < 0 then raise_error('{error}') else true end"
    return Filter(counted, expression(checked, w=WEIGHT_COLUMN))


def _marked(rows: Relation, match: str) -> Relation:
    return Project(rows, (*((name, column(name)) for name in rows.columns), (MATCH, expression(match))))
