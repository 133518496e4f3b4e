"""Inner aggregates over a table, as formulas over counts and exact sums, like those of a state."""

from __future__ import annotations

from collections.abc import Callable

from sparkivm.algebra import (
    Aggregate,
    Filter,
    Generate,
    InnerJoin,
    Project,
    Relation,
    Repeat,
    Scan,
    Totals,
    UnionAll,
)
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import column
from sparkivm.plan.state import group_state
from sparkivm.plan.types_of import TypesOf

_ROW_BY_ROW = (Scan, Filter, Project, Generate, Repeat, UnionAll)


def with_inner_totals(core: Relation, types_of: TypesOf) -> Relation:
    """The core with aggregates below its top as `Totals` if the delta of their input is cheap."""

    def change(node: Relation) -> Relation:
        return (_totals(node, types_of) or node) if isinstance(node, Aggregate) else node

    return rewrite_inner(core, change)


def rewrite_inner(core: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """The core with `change` applied to each relation except the groups at its top, which are the state."""
    if isinstance(core, Aggregate):
        return core.with_children((rewrite(core.input, change),))
    return rewrite(core, change)


def is_row_by_row(relation: Relation) -> bool:
    """Whether its delta needs only its tables' changes, which are joined to nothing but constants."""

    def by_row(node: Relation) -> bool:
        meets_constants = isinstance(node, InnerJoin) and sum(bool(side.tables) for side in node.inputs) == 1
        return isinstance(node, _ROW_BY_ROW) or meets_constants or not node.tables

    return all(map(by_row, relation.walk()))


def _totals(aggregate: Aggregate, types_of: TypesOf) -> Relation | None:
    if not is_row_by_row(aggregate.input):
        return None
    if not all(call.called.may_add_up for call in aggregate.calls):
        return None
    state = group_state(aggregate, types_of)
    if not state.linear:
        return None
    totals = Totals(
        aggregate.input,
        aggregate.keys,
        state.columns,
        read=frozenset().union(*(formula.columns for _, formula in state.formulas)),
        written=aggregate,
    )
    return Project(totals, (*((key, column(key)) for key in aggregate.keys), *state.formulas))
