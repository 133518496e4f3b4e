"""What explain says, as JSON: the plan as a list of nodes, and the next refresh."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sparkivm.explain.plan_tree import PlanNode
from sparkivm.reasons import Fallback
from sparkivm.refresh.decide.decide import Decision


def explained(view: str, root: PlanNode | None, decided: Decision | Fallback, steps: Sequence[str]) -> str:
    """root  of the plan; None if the view is not incrementally maintainable"""
    decision = Decision("full", {}, fallback=decided) if isinstance(decided, Fallback) else decided
    fallback, place = decision.fallback, decision.fallback.place if decision.fallback else None
    found = {
        "view": view,
        "incremental": root is not None,
        "plan": _nodes(root) if root is not None else [],
        "next_refresh": {
            "mode": decision.mode,
            "form": decision.way.change.form if decision.way else "",
            "reason": fallback.reason.name if fallback else "",
            "detail": (fallback.detail or fallback.reason.happened) if fallback else "",
            "line": place.line if place else None,
            "column": place.column if place else None,
            "way_out": fallback.reason.way_out if fallback else "",
            "explanation": decision.explanation,
            "sources": [
                {"source": key, "from": c.old, "to": c.new, "read": c.how, "changed_rows": c.rows}
                for key, c in decision.changes.items()
            ],
            "steps": list(steps),
        },
    }
    return json.dumps(found, ensure_ascii=False)


def _nodes(root: PlanNode) -> list[dict[str, object]]:
    """Numbered from 1, the root first; `reads` are numbers of nodes."""
    numbers, waiting = {root: 1}, [root]
    for node in waiting:  # the list grows during the loop
        for child in node.children:
            if child not in numbers:
                waiting.append(child)
                numbers[child] = len(waiting)
    return [
        {
            "id": numbers[node],
            "label": node.label,
            "strategy": node.strategy,
            "reads": [numbers[child] for child in node.children],
        }
        for node in waiting
    ]
