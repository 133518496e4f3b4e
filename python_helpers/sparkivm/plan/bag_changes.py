"""How the delta of a core changes a bag state: copies to add, copies to take away."""

from __future__ import annotations

from dataclasses import dataclass

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
    Scan,
    Unweigh,
    Weigh,
)
from sparkivm.algebra.project import only, renamed
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.group_changes import STATE
from sparkivm.plan.state import BagState

WEIGHT_COLUMN = f"{RESERVED_PREFIX}weight"
MATCH = f"{RESERVED_PREFIX}match"
_STORED = f"{RESERVED_PREFIX}stored"


@dataclass(frozen=True)
class BagRows:
    """One relation with the column MATCH: rows to delete wherever stored (true), rows to insert (false)."""

    rows: Relation


def net_changes(state: BagState, d: Derivation) -> Relation:
    """dV under the table's column names, one row per value."""
    return Consolidate(renamed(d.delta(state.core), state.columns))


def appended(state: BagState, d: Derivation) -> Relation:
    """The copies to insert, for a delta that takes nothing away; a negative weight is an error."""
    checked = expression(
        "case when w < 0 then raise_error('a row would be deleted that no refresh inserted') else true end",
        w=WEIGHT_COLUMN,
    )
    counted = Unweigh(net_changes(state, d), WEIGHT_COLUMN)
    return Copies(only(Weigh(Filter(counted, checked), column(WEIGHT_COLUMN)), state.names))


def replaced(state: BagState, d: Derivation) -> Relation:
    """The whole state after the change: V₁ = V₀ ⊎ dV."""
    return Copies(Consolidate(plus(scan(state), renamed(d.delta(state.core), state.columns))))


def merged(state: BagState, d: Derivation) -> BagRows:
    """Values that lose copies are deleted with all their copies, and those that remain are inserted again.

    So the state may hold equal rows, and needs no key.
    """
    net = Unweigh(net_changes(state, d), WEIGHT_COLUMN)
    less = Filter(net, expression("w < 0", w=WEIGHT_COLUMN))
    more = Filter(net, expression("w > 0", w=WEIGHT_COLUMN))
    keys = Keys.of(less, ((name, name) for name in state.names))
    counts = Aggregate(scan(state).restrict(keys), state.names, (Call(_STORED, "count_rows"),))
    stored = renamed(
        counts, [*((f"{RESERVED_PREFIX}s_{i}", n) for i, n in enumerate(state.names)), (_STORED, _STORED)]
    )
    pairs = tuple(Pair(n, f"{RESERVED_PREFIX}s_{i}", null_safe=True) for i, n in enumerate(state.names))
    joined = LeftJoin(less, stored, JoinCondition(pairs))
    left_over = expression(
        "case when coalesce(s, 0) + w < 0 then raise_error('the state lacks a row that has to be deleted')"
        " else coalesce(s, 0) + w end",
        s=_STORED,
        w=WEIGHT_COLUMN,
    )
    remaining = Project(joined, (*((n, column(n)) for n in state.names), (WEIGHT_COLUMN, left_over)))
    inserted = Copies(
        only(
            Weigh(plus(only(remaining, (*state.names, WEIGHT_COLUMN)), more), column(WEIGHT_COLUMN)),
            state.names,
        )
    )
    return BagRows(plus(_marked(only(less, state.names), "true"), _marked(inserted, "false")))


def _marked(rows: Relation, match: str) -> Relation:
    return Project(rows, (*((name, column(name)) for name in rows.columns), (MATCH, expression(match))))


def scan(state: BagState) -> Scan:
    """The state table as it was when its frontier was read."""
    return Scan(STATE, tuple((name, name) for name in state.names))
