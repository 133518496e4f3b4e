"""Inner aggregates that a view may keep as views of their own.

γ(R) below other operators = V,  V := γ(R) a view that is refreshed first

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
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.inner_totals import rewrite_inner


def candidates(plan: ViewPlan) -> tuple[Aggregate, ...]:
    """Inner aggregates that change by the changes of their tables alone, in the order of the plan.

    These are the ones of counts and sums over tables that are read row by row. Others would read as much for
    a view of their own as for this one.
    """
    inner = [node.written for node in plan.core.walk() if isinstance(node, Totals)]
    return tuple(node for node in inner if node is not None and node.keys and can_be_view(node))


def can_be_view(node: Aggregate) -> bool:
    """Whether its columns and what it reads are those that a view may have."""
    reserved = any(name.startswith(RESERVED_PREFIX) for name in node.columns)
    return not reserved and not any(map(is_moment, node.tables))


def read_from_auxiliaries(
    core: Relation, text_of: Callable[[Relation], str], views: Mapping[str, tuple[Relation, Columns]]
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

    return (rewrite_inner(core, change) if views else core), found
