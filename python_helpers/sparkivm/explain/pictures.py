"""A plan drawn in Mermaid or DOT: data flows upwards from the sources to the view."""

from __future__ import annotations

from sparkivm.explain.plan_tree import PlanNode, nodes_of


def mermaid(view: str, root: PlanNode) -> str:
    """A flow chart that GitHub and most Markdown viewers render."""
    lines = ["flowchart BT", f'  view(["{_quoted(view)}"])']
    for number, above, node in _numbered(root):
        text = _quoted(node.label) + (f"<br/><i>{_quoted(node.strategy)}</i>" if node.strategy else "")
        lines.append(f'  n{number}[("{text}")]' if not node.children else f'  n{number}["{text}"]')
        lines += [f"  n{number} --> {name}" for name in above]
    return "\n".join(lines)


def dot(view: str, root: PlanNode) -> str:
    """A graph for Graphviz."""
    lines = [
        "digraph plan {",
        "  rankdir=BT;",
        "  node [shape=box, fontname=Helvetica];",
        f'  view [shape=oval, label="{_escaped(view)}"];',
    ]
    for number, above, node in _numbered(root):
        text = _escaped(node.label) + (f"\\n{_escaped(node.strategy)}" if node.strategy else "")
        shape = ", shape=cylinder" if not node.children else ""
        lines.append(f'  n{number} [label="{text}"{shape}];')
        lines += [f"  n{number} -> {name};" for name in above]
    return "\n".join([*lines, "}"])


def _numbered(root: PlanNode) -> list[tuple[int, list[str], PlanNode]]:
    """(number, names of its readers, node), level by level; each node once."""
    nodes = nodes_of(root)
    above = {node: ["view"] if node is root else [] for node in nodes}
    for number, node in enumerate(nodes, 1):
        for child in node.children:
            above[child].append(f"n{number}")
    return [(number, above[node], node) for number, node in enumerate(nodes, 1)]


def _quoted(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
