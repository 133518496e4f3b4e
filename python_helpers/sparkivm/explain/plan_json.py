"""What explain says, as JSON: the plan as a list of nodes, and the next refresh."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sparkivm.errors import ModelError
from sparkivm.explain.plan_tree import PlanNode, nodes_of
from sparkivm.refresh.decide.decide import Decision


def explained(
    view: str, root: PlanNode | None, decision: Decision, refusal: ModelError | None, steps: Sequence[str]
) -> str:
    """
    root     of the plan; None if the view is not incremental
    refusal  the error with which the refresh would end
    """
    fallback, place = decision.fallback, decision.fallback.place if decision.fallback else None
    what, do = "", ""
    if refusal is not None:
        what, do = refusal.what, refusal.do
    elif fallback is not None:
        what, do = fallback.detail or fallback.reason.happened, fallback.reason.way_out
    found = {
        "view": view,
        "incremental": root is not None,
        "plan": _nodes(root) if root is not None else [],
        "next_refresh": {
            "mode": "error" if refusal else decision.mode,
            "form": decision.way.change.form if decision.way else "",
            "reason": fallback.reason.name if fallback else "",
            "detail": what,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "way_out": do,
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
    numbers = {node: number for number, node in enumerate(nodes_of(root), 1)}
    return [
        {
            "id": number,
            "label": node.label,
            "strategy": node.strategy,
            "reads": [numbers[child] for child in node.children],
        }
        for node, number in numbers.items()
    ]
