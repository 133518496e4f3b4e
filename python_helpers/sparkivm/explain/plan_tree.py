"""A view's plan as a tree of labelled nodes, to be printed as text or drawn."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra import (
    Aggregate,
    Call,
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
    Scalar,
    Scan,
    SemiJoin,
    Slice,
    UnionAll,
    Unweigh,
    Weigh,
    Window,
    operator,
)
from sparkivm.algebra.moment import at, function_of
from sparkivm.errors import no_rule
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state import GroupState
from sparkivm.plan.strategies import READERS_STRATEGY, operator_strategy, state_strategy


@dataclass(frozen=True, eq=False)
class PlanNode:
    """One operator: what it does, and how it changes; `strategy` is empty for a scan.

    What a plan uses in several places is the same node below several others.
    """

    label: str
    strategy: str
    children: tuple[PlanNode, ...]


def plan_tree(plan: ViewPlan) -> PlanNode:
    """The core, its topmost node being what the state stores, under the windows that readers compute."""
    core = _node(plan.core, {})
    if not isinstance(plan.state, GroupState):
        return core
    groups = PlanNode(core.label, state_strategy(plan.state), core.children)
    windows = plan.finalizer.split.windows
    return groups if windows is None else _read_from(windows, groups)


def _read_from(node: Relation, groups: PlanNode) -> PlanNode:
    """What stands over the groups, which readers of the view compute."""
    if isinstance(node, Aggregate):
        return groups
    (below,) = node.children
    return PlanNode(label(node), READERS_STRATEGY, (_read_from(below, groups),))


def _node(relation: Relation, known: dict[int, PlanNode]) -> PlanNode:
    """The node of a relation, the one in `known` by the relation's id if it was there before."""
    if id(relation) not in known:
        children = tuple(_node(child, known) for child in relation.children)
        strategy = "" if isinstance(relation, (Scan, OneRow)) else operator_strategy(relation)
        known[id(relation)] = PlanNode(label(relation), strategy, children)
    return known[id(relation)]


def label(relation: Relation) -> str:
    """What an operator does, in one line."""
    relation = operator(relation)
    match relation:
        case Scan():
            return (
                f"Scan {relation.table}: {', '.join(source for _, source in relation.fields) or 'rows only'}"
            )
        case Filter():
            return f"Filter {_text(relation.predicate)}"
        case Project():
            return f"Project {', '.join(_item(name, _text(scalar)) for name, scalar in relation.items)}"
        case Generate():
            return f"Generate {', '.join(relation.names)} = {_text(relation.generator)}"
        case Repeat():
            return f"Repeat {_text(relation.times)} times"
        case InnerJoin():
            on = " and ".join(_text(p) for p in relation.predicates)
            return f"InnerJoin {on}" if on else "CrossJoin"
        case LeftJoin() | FullJoin() | SemiJoin():
            kind = "AntiJoin" if isinstance(relation, SemiJoin) and relation.anti else type(relation).__name__
            return f"{kind} {' and '.join(_text(p) for p in relation.predicates) or 'true'}"
        case Aggregate() if not relation.calls and relation.keys:
            return f"Distinct {', '.join(relation.keys)}"
        case Aggregate():
            calls = ", ".join(f"{call.name} = {_call(call)}" for call in relation.calls)
            by = f" by {', '.join(relation.keys)}" if relation.keys else ""
            return f"Aggregate{by}: {calls}" if calls else f"Aggregate{by}"
        case Window():
            by = f" by {', '.join(relation.partition)}" if relation.partition else ""
            calls = ", ".join(f"{call.name} = {_text(call.call)}" for call in relation.calls)
            return f"Window{by}: {calls}"
        case UnionAll():
            return f"UnionAll of {len(relation.inputs)}"
        case (
            OneRow()
            | Changes()
            | Empty()
            | Restricted()
            | Slice()
            | Weigh()
            | Consolidate()
            | Copies()
            | Unweigh()
        ):
            return type(relation).__name__
        case _:
            raise no_rule(relation)


def _text(scalar: Scalar) -> str:
    return at(scalar, function_of).sql("spark")


def _item(name: str, text: str) -> str:
    return name if text.strip("`") == name else f"{name} = {text}"


def _call(call: Call) -> str:
    return call.function.text(_text(call.argument) if call.argument is not None else "")
