"""Inner aggregates that a view may keep as views of their own.

γ(R) below other operators = V,  V := γ(R) a view that is refreshed first; also where γ is below a join in the
other form of the view alone

Below a join or another aggregate, the groups that a refresh needs are read again from R, where their rows
may lie anywhere. As a view they are stored: V changes by what changes in R alone, and what stands above it
reads V and its changes, as of any other source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sparkivm.algebra import Aggregate, Relation, Totals
from sparkivm.algebra.moment import is_moment
from sparkivm.algebra.project import renamed
from sparkivm.algebra.relation import Columns
from sparkivm.names import RESERVED_PREFIX
from sparkivm.plan.aggregate_below_join import BelowJoin, aggregate_below_join
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.inner_totals import rewrite_inner
from sparkivm.plan.state import GroupState
from sparkivm.plan.types_of import TypesOf, argument_types


def candidates(plan: ViewPlan) -> tuple[Aggregate, ...]:
    """Inner aggregates that change by the changes of their tables alone, in the order of the plan.

    These are the ones of counts and sums over tables that are read row by row. Others would read as much for
    a view of their own as for this one.
    """
    inner = [node.written for node in plan.core.walk() if isinstance(node, Totals)]
    return tuple(node for node in inner if node is not None and node.keys and can_be_view(node))


def below_join(plan: ViewPlan) -> BelowJoin | None:
    """The other form of the groups that are the state, if the groups in it can be a view."""
    written, state = plan.written, plan.state
    if not isinstance(state, GroupState) or state.core.calls != getattr(written, "calls", None):
        return None
    found = aggregate_below_join(written, state.types)
    return found if found is not None and can_be_view(found.inner) else None


def can_be_view(node: Aggregate) -> bool:
    """Whether its columns and what it reads are those that a view may have."""
    reserved = any(name.startswith(RESERVED_PREFIX) for name in node.columns)
    return not reserved and not any(map(is_moment, node.tables))


def read_from_auxiliaries(
    core: Relation,
    text_of: Callable[[Relation], str],
    types_of: TypesOf,
    views: Mapping[str, tuple[Relation, Columns]],
) -> tuple[Relation, Mapping[str, Aggregate]]:
    """The core with inner aggregates replaced by the views that have their texts; and which were, by text.

    text_of  a relation as the query of an auxiliary view
    views    by such a text: the view's relation, and its columns in order
    """
    found: dict[str, Aggregate] = {}

    def change(node: Relation) -> Relation:
        if not isinstance(node, Aggregate):
            return node
        text = text_of(node)
        if text not in views:
            return node
        found[text] = node
        view, columns = views[text]
        return renamed(view, tuple(zip(node.columns, columns, strict=True)))

    if not views:
        return core, found
    if isinstance(core, Aggregate):
        below = aggregate_below_join(core, argument_types(core, types_of))
        if below is not None:
            groups = change(below.inner)
            core = core if groups is below.inner else below.over(groups)
    return rewrite_inner(core, change), found
