"""Which strategy each operator of a view takes."""

from __future__ import annotations

from sparkivm.algebra import (
    Aggregate,
    Changes,
    Consolidate,
    Copies,
    Empty,
    Filter,
    FullJoin,
    Generate,
    InnerJoin,
    LeftJoin,
    OneRow,
    Project,
    Relation,
    Repeat,
    Restricted,
    Scan,
    SemiJoin,
    Slice,
    Totals,
    UnionAll,
    Unweigh,
    Weigh,
    Window,
    operator,
)
from sparkivm.errors import InternalError, no_rule
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state import GroupState

READERS_STRATEGY = "computed from the state by whoever reads the view"


def strategies(plan: ViewPlan) -> dict[str, str]:
    """Operator → strategy, the operators named by class and told apart by a number."""
    result: dict[str, str] = {}
    counts: dict[str, int] = {}
    if isinstance(plan.state, GroupState):
        result["State"] = state_strategy(plan.state)
    if plan.finalizer.split.windows is not None:
        result["Window"] = READERS_STRATEGY
    top = plan.core
    for node in plan.core.walk():
        if isinstance(node, Scan) or (node is top and isinstance(plan.state, GroupState)):
            continue
        name = type(node).__name__
        counts[name] = counts.get(name, 0) + 1
        label = name if counts[name] == 1 else f"{name}#{counts[name]}"
        result[label] = operator_strategy(node)
    return result


def operator_strategy(node: Relation) -> str:
    node = operator(node)
    match node:
        case Filter() | Project() | Generate() | Repeat() | UnionAll():
            return "linear"
        case InnerJoin():
            return f"linear, one term per changed input of {len(node.inputs)}"
        case LeftJoin() | FullJoin() | SemiJoin():
            return "transition by key" if node.on.pairs and not node.on.residual else "transition by row"
        case Totals():
            return "counts and sums, old ones from new ones and the delta"
        case Aggregate():
            return "affected keys" if node.keys else "recomputed when its input changes"
        case Window():
            return "affected partitions" if node.partition else "recomputed when its input changes"
        case Scan() | OneRow() | Empty():
            return "constant"
        case Changes() | Restricted() | Slice() | Weigh() | Consolidate() | Copies() | Unweigh():
            raise InternalError("a delta has no strategy, it is one")
        case _:
            raise no_rule(node)


def state_strategy(state: GroupState) -> str:
    if state.linear:
        return "linear: counts and sums are added up"
    return (
        "affected groups are read again"
        if state.recomputed
        else "counts and sums added up, extrema taken, kept or read again"
    )
