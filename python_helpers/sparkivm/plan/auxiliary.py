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
from sparkivm.plan.split import Split
from sparkivm.plan.state import GroupState
from sparkivm.plan.types_of import TypesOf, argument_types

Views = Mapping[str, tuple[Relation, Columns]]


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
    if plan.finalizer.split.windows is not None or not isinstance(state, GroupState):
        return None
    if state.core.calls != getattr(written, "calls", None):  # some are of DISTINCT arguments
        return None
    found = aggregate_below_join(written, state.types)
    return found if found is not None and can_be_view(found.inner) else None


def can_be_view(node: Aggregate) -> bool:
    """Whether its columns and what it reads are those that a view may have."""
    reserved = any(name.startswith(RESERVED_PREFIX) for name in node.columns)
    return not reserved and not any(map(is_moment, node.tables))


def read_from_auxiliaries(
    core: Relation, text_of: Callable[[Relation], str], views: Views
) -> tuple[Relation, Mapping[str, Aggregate]]:
    """The core with inner aggregates replaced by the views that have their texts; and which were, by text.

    text_of  a relation as the query of an auxiliary view
    views    by such a text: the view's relation, and its columns in order
    """
    found: dict[str, Aggregate] = {}

    def change(node: Relation) -> Relation:
        if not isinstance(node, Aggregate) or (text := text_of(node)) not in views:
            return node
        found[text] = node
        return _in_place_of(node, *views[text])

    return (rewrite_inner(core, change) if views else core), found


def read_below_join(
    halves: Split, text_of: Callable[[Relation], str], types_of: TypesOf, views: Views
) -> tuple[Split, Mapping[str, Aggregate]]:
    """The halves of a query in the other form of its groups, if that is over one of the views."""
    if not views or halves.windows is not None or not isinstance(halves.core, Aggregate):
        return halves, {}
    below = aggregate_below_join(halves.core, argument_types(halves.core, types_of))
    if below is None or (text := text_of(below.inner)) not in views:
        return halves, {}
    return below.split(halves, _in_place_of(below.inner, *views[text])), {text: below.inner}


def _in_place_of(node: Aggregate, view: Relation, columns: Columns) -> Relation:
    return renamed(view, tuple(zip(node.columns, columns, strict=True)))
