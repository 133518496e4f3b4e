"""A plan as a tree of labelled nodes, to print as text or to draw."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sparkivm.algebra import Aggregate, Relation
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state import GroupState
from sparkivm.plan.strategies import READERS_STRATEGY, state_strategy


@dataclass(frozen=True, eq=False)
class PlanNode:
    """One operator: its label and strategy; `strategy` is empty for a scan, and in a delta.

    A part that a plan uses in several places is the same node below several others.
    """

    label: str
    strategy: str
    children: tuple[PlanNode, ...]


def plan_tree(plan: ViewPlan) -> PlanNode:
    """The core, whose topmost node is what the state stores, below the windows that readers compute."""
    core = _node(plan.core, {}, derived=True)
    if not isinstance(plan.state, GroupState):
        return core
    groups = PlanNode(core.label, state_strategy(plan.state), core.children)
    windows = plan.finalizer.split.windows
    return groups if windows is None else _read_from(windows, groups)


def relation_tree(relation: Relation) -> PlanNode:
    """The tree of a relation: a query before the split, or a delta."""
    return _node(relation, {}, derived=False)


def nodes_of(root: PlanNode) -> list[PlanNode]:
    """A node and all below it, level by level, each once."""
    nodes, known = [root], {root}
    for node in nodes:  # the list grows during the loop
        for child in node.children:
            if child not in known:
                nodes.append(child)
                known.add(child)
    return nodes


def tree_lines(root: PlanNode) -> list[str]:
    """One line per operator. A part that is used in several places is numbered and written out once."""
    uses = Counter(child for node in nodes_of(root) for child in node.children)
    parts: dict[PlanNode, int] = {}
    lines: list[str] = []

    def write(node: PlanNode, depth: int) -> None:
        if node in parts:
            lines.append("  " * depth + f"part {parts[node]}, as above")
            return
        text = node.label + (f"    [{node.strategy}]" if node.strategy else "")
        if uses[node] > 1 and node.children:
            parts[node] = len(parts) + 1
            text += f"    part {parts[node]}"
        lines.append("  " * depth + text)
        for child in node.children:
            write(child, depth + 1)

    write(root, 0)
    return lines


def _read_from(node: Relation, groups: PlanNode) -> PlanNode:
    """The operators above the groups, which readers of the view compute."""
    if isinstance(node, Aggregate):
        return groups
    (below,) = node.children
    return PlanNode(node.label, READERS_STRATEGY, (_read_from(below, groups),))


def _node(relation: Relation, known: dict[Relation, PlanNode], *, derived: bool) -> PlanNode:
    """The node of a relation; the one in `known` if it exists.

    derived  whether its changes are derived, so that its operators have a strategy
    """
    if relation not in known:
        children = tuple(_node(child, known, derived=derived) for child in relation.children)
        known[relation] = PlanNode(relation.label, relation.strategy if derived else "", children)
    return known[relation]
