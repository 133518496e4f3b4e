"""The strategy of each operator of a view."""

from __future__ import annotations

from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state import GroupState

READERS_STRATEGY = "computed from the state when the view is read"


def strategies(plan: ViewPlan) -> dict[str, str]:
    """Operator → strategy; operators are named by class, and numbered if there are several."""
    result: dict[str, str] = {}
    counts: dict[str, int] = {}
    if isinstance(plan.state, GroupState):
        result["State"] = state_strategy(plan.state)
    if plan.finalizer.split.windows is not None:
        result["Window"] = READERS_STRATEGY
    for node in plan.core.walk():
        if not node.strategy or (node is plan.core and isinstance(plan.state, GroupState)):
            continue
        name = type(node).__name__
        counts[name] = counts.get(name, 0) + 1
        label = name if counts[name] == 1 else f"{name}#{counts[name]}"
        result[label] = node.strategy
    return result


def state_strategy(state: GroupState) -> str:
    if state.linear:
        return "linear: counts and sums are added up"
    return (
        "affected groups are read again"
        if state.recomputed
        else "counts and sums added up, extrema taken, kept or read again"
    )
