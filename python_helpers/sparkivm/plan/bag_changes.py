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
    Restricted,
    UnionAll,
    Unweigh,
    Weigh,
    Window,
)
from sparkivm.algebra.aggregates.count import COUNT_ROWS
from sparkivm.algebra.project import only, padded, renamed
from sparkivm.algebra.relation import Columns
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.window import Ordering, WindowCall
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.stamps import stamped
from sparkivm.plan.state import WEIGHT_COLUMN, BagState, stored

MATCH = f"{RESERVED_PREFIX}match"
_STORED, _ALL, _OLDER = (f"{RESERVED_PREFIX}{word}" for word in ("stored", "all", "older"))
_ROWS_BEFORE = "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
_LACKS_ROW = "a row to delete is missing from the state"


def changes(state: BagState, d: Derivation) -> Relation:
    """dV under the table's column names, one row per value, with its weight in WEIGHT_COLUMN."""
    return Unweigh(Consolidate(renamed(d.delta(state.core), state.columns)), WEIGHT_COLUMN)


def appended(state: BagState, changed: Relation) -> Relation:
    """The copies to insert, for changes that delete nothing; a negative weight is an error."""
    came = _not_negative(changed, "a row would be deleted that no refresh inserted")
    return stamped(_copies(came, state.values), state.stamps)


def replaced(state: BagState, changed: Relation, part: Keys | None = None) -> Relation:
    """The whole state after the change: V₁ = V₀ ⊎ dV. With `part`, only its rows with these keys.

    law  V₁|K = V₀|K ⊎ dV|K, and V₁ = V₀ outside K if K contains the keys of dV. Any columns can be the key.
    """
    if state.stamps:
        less, more = _less(changed), _more(changed)
        untouched = Restricted(stored(state, part), _lost(state, less), excluded=True)
        return UnionAll((untouched, _left_or_new(state, less, more)))
    net = Unweigh(Consolidate(plus(stored(state, part), _weighed(changed, state.values))), WEIGHT_COLUMN)
    return _copies(_not_negative(net, _LACKS_ROW), state.values)


def merged(state: BagState, changed: Relation) -> Relation:
    """Rows with the column MATCH: true, delete all stored copies of the row; false, insert it.

    Values that lose copies are deleted with all their copies, and the remaining copies are inserted again.

    So the state may contain equal rows and needs no key.
    """
    less, more = _less(changed), _more(changed)
    return plus(_marked(padded(less, state.names), "true"), _marked(_left_or_new(state, less, more), "false"))


def _less(changed: Relation) -> Relation:
    return Filter(changed, expression("w < 0", w=WEIGHT_COLUMN))


def _more(changed: Relation) -> Relation:
    return Filter(changed, expression("w > 0", w=WEIGHT_COLUMN))


def _lost(state: BagState, less: Relation) -> Keys:
    """The values that lose copies, as keys of the state."""
    return Keys.of(less, ((name, name) for name in state.values))


def _left_or_new(state: BagState, less: Relation, more: Relation) -> Relation:
    """What remains of the values that lose copies, and the new copies of the values that gain some."""
    new = only(stamped(more, state.stamps), (*state.names, WEIGHT_COLUMN)) if state.stamps else more
    return _copies(plus(_remaining(state, less), new), state.names)


def _remaining(state: BagState, less: Relation) -> Relation:
    """What remains of the values that lose copies: of equal rows those with the oldest stamps; weighted."""
    counts = Aggregate(stored(state, _lost(state, less)), state.names, (Call(_STORED, COUNT_ROWS),))
    inside = {name: f"{RESERVED_PREFIX}s_{i}" for i, name in enumerate(state.values)}
    counted = renamed(counts, [(inside.get(name, name), name) for name in counts.columns])
    pairs = tuple(Pair(name, inside[name], null_safe=True) for name in state.values)
    joined: Relation = LeftJoin(less, counted, JoinCondition(pairs))
    left_over = expression("coalesce(n, 0) + w", n=_STORED, w=WEIGHT_COLUMN)
    if state.stamps:
        number = expression("sum(n)", n=_STORED)
        order = tuple(Ordering(column(stamp.name), False, True) for stamp in state.stamps)
        calls = (WindowCall(_OLDER, number, order, _ROWS_BEFORE), WindowCall(_ALL, number))
        joined = Window(joined, state.values, calls)
        left_over = expression(
            "case when coalesce(a, 0) + w < 0 then -1 "
            "else greatest(0, least(coalesce(n, 0), a + w - coalesce(o, 0))) end",
            n=_STORED, w=WEIGHT_COLUMN, a=_ALL, o=_OLDER,
        )  # fmt: skip
    remaining = Project(joined, (*((n, column(n)) for n in state.names), (WEIGHT_COLUMN, left_over)))
    return _not_negative(remaining, _LACKS_ROW)


def _weighed(counted: Relation, names: Columns) -> Relation:
    """Rows with a weight column as a Z-set."""
    return only(Weigh(counted, column(WEIGHT_COLUMN)), names)


def _copies(counted: Relation, names: Columns) -> Relation:
    """Rows with a weight column, without negative weights, as plain copies."""
    return Copies(_weighed(counted, names))


def _not_negative(counted: Relation, error: str) -> Relation:
    checked = f"case when w < 0 then raise_error('{error}') else true end"
    return Filter(counted, expression(checked, w=WEIGHT_COLUMN))


def _marked(rows: Relation, match: str) -> Relation:
    return Project(rows, (*((name, column(name)) for name in rows.columns), (MATCH, expression(match))))
