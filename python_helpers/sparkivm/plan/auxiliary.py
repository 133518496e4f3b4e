"""Inner aggregates that a view may keep as auxiliary views.

γ(R) below other operators = V,  V := γ(R) a view that is refreshed first; also if γ is below a join only in
the other form of the view

Below a join or another aggregate, the groups that a refresh needs are read again from R, where their rows may
be anywhere. An auxiliary view stores them: V changes only by what changes in R, and the operators above read
V and its changes like any other source.
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
    """Inner aggregates that change only by the changes of their tables, in plan order.

    These are counts and sums over tables that are read row by row. For others, an auxiliary view would read
    as much as this view does.
    """
    inner = [node.written for node in plan.core.walk() if isinstance(node, Totals)]
    return tuple(node for node in inner if node is not None and node.keys and can_be_view(node))


def below_join(plan: ViewPlan) -> BelowJoin | None:
    """The other form of the state's groups, if its inner groups can be a view."""
    if not isinstance(plan.state, GroupState):
        return None
    found = aggregate_below_join(plan.written, plan.state.types)
    return found if found is not None and can_be_view(found.inner) else None


def can_be_view(node: Aggregate) -> bool:
    """Whether a view may have its columns and read its tables."""
    reserved = any(name.startswith(RESERVED_PREFIX) for name in node.columns)
    return not reserved and not any(map(is_moment, node.tables))


def read_from_auxiliaries(
    core: Relation, text_of: Callable[[Relation], str], views: Views
) -> tuple[Relation, Mapping[str, Aggregate]]:
    """The core with inner aggregates replaced by the views with their texts; and the aggregates, by text.

    text_of  the query of an auxiliary view for a relation
    views    by query: the view's relation, and its columns in order
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
    """The halves of a query in the other form of its groups, if one of the views has the inner groups."""
    if not views or halves.windows is not None or not isinstance(halves.core, Aggregate):
        return halves, {}
    below = aggregate_below_join(halves.core, argument_types(halves.core, types_of))
    if below is None or (text := text_of(below.inner)) not in views:
        return halves, {}
    return below.split(halves, _in_place_of(below.inner, *views[text])), {text: below.inner}


def _in_place_of(node: Aggregate, view: Relation, columns: Columns) -> Relation:
    return renamed(view, tuple(zip(node.columns, columns, strict=True)))
