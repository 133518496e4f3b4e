"""A plan drawn in Mermaid or DOT: data flows upwards from the sources to the view."""

from __future__ import annotations

from collections.abc import Iterator

from sparkivm.explain.plan_tree import PlanNode


def mermaid(view: str, root: PlanNode) -> str:
    """A flow chart that GitHub and most Markdown readers draw."""
    lines = ["flowchart BT", f'  view(["{_quoted(view)}"])']
    for number, parent, node in _numbered(root):
        text = _quoted(node.label) + (f"<br/><i>{_quoted(node.strategy)}</i>" if node.strategy else "")
        lines.append(f'  n{number}[("{text}")]' if not node.children else f'  n{number}["{text}"]')
        lines.append(f"  n{number} --> {'view' if parent is None else f'n{parent}'}")
    return "\n".join(lines)


def dot(view: str, root: PlanNode) -> str:
    """A graph for Graphviz."""
    lines = [
        "digraph plan {",
        "  rankdir=BT;",
        "  node [shape=box, fontname=Helvetica];",
        f'  view [shape=oval, label="{_escaped(view)}"];',
    ]
    for number, parent, node in _numbered(root):
        text = _escaped(node.label) + (f"\\n{_escaped(node.strategy)}" if node.strategy else "")
        shape = ", shape=cylinder" if not node.children else ""
        lines.append(f'  n{number} [label="{text}"{shape}];')
        lines.append(f"  n{number} -> {'view' if parent is None else f'n{parent}'};")
    return "\n".join([*lines, "}"])


def _numbered(root: PlanNode) -> Iterator[tuple[int, int | None, PlanNode]]:
    """(number, number of the parent, node), parents first."""
    waiting: list[tuple[int | None, PlanNode]] = [(None, root)]
    number = 0
    while waiting:
        parent, node = waiting.pop(0)
        number += 1
        yield number, parent, node
        waiting.extend((number, child) for child in node.children)


def _quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
