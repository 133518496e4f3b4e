"""A plan, its state, and a delta as lines of text, and the passes that led to them."""

from __future__ import annotations

from collections.abc import Iterator

from sparkivm.algebra.moment import shown
from sparkivm.explain.plan_tree import PlanNode, plan_tree, relation_tree, tree_lines
from sparkivm.normalize.pipeline import Trace
from sparkivm.plan.compile_model import ViewPlan
from sparkivm.plan.state import STAGED, GroupState
from sparkivm.plan.state_change import StateChange


def plan_lines(plan: ViewPlan) -> list[str]:
    """Each operator with its strategy, and the content of the state table."""
    lines = [*_tree("plan", plan_tree(plan)), "", "state"]
    if isinstance(plan.state, GroupState):
        lines.append(f"  one row per {', '.join(plan.state.keys) or 'view'}")
        lines += [f"  {column.name}: {column.function.shown}" for column in plan.state.columns]
    else:
        lines.append(f"  one row per row of the view, duplicates included: {', '.join(plan.state.values)}")
    return [*lines, *(f"  {stamp.name}: stamp, now {shown(stamp.value)}" for stamp in plan.state.stamps)]


def delta_lines(change: StateChange) -> list[str]:
    """What is computed from the changes, before the applying statement and in it."""
    return [
        line
        for title, trace in _derived(change)
        for line in ("", *_tree(title, relation_tree(trace[-1].relation)))
    ]


def plan_steps(plan: ViewPlan) -> list[str]:
    """The plan as written in the query, and after each pass that changed it."""
    return _steps("plan", plan.trace)[1:]


def delta_steps(change: StateChange) -> list[str]:
    """The same for the delta, starting with the result of the rules."""
    return [line for title, trace in _derived(change) for line in _steps(title, trace)]


def _derived(change: StateChange) -> Iterator[tuple[str, Trace]]:
    """The computed relations, each with a title; none if only the sources are read."""
    titles = [f"{change.form} of {change.kind}"]
    if change.staged is not None:
        titles.insert(0, f"staged as {STAGED}")
    yield from zip(titles, change.traces, strict=False)


def _steps(title: str, trace: Trace) -> list[str]:
    lines: list[str] = []
    shown: list[str] = []
    for step in trace:
        tree = tree_lines(relation_tree(step.relation))
        if tree != shown:
            lines += ["", f"{title}: {step.by}", *(f"  {line}" for line in tree)]
        shown = tree
    return lines


def _tree(title: str, root: PlanNode) -> list[str]:
    return [title, *(f"  {line}" for line in tree_lines(root))]
