"""A plan drawn as SVG: the view at the top, its sources at the bottom.

tested  tests/refresh/test_plan_svg.py
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html import escape

from sparkivm.explain.plan_tree import PlanNode, nodes_of

# Sizes in pixels. Labels are in a font of fixed width, so that a box can be measured.
_CHARACTER = 6.7
_LINE = 15
_PADDING = 9
_GAP_ACROSS, _GAP_DOWN = 22, 34
_LONGEST_LINE, _MOST_LINES = 44, 6
_SMALLEST = 0.6  # to which a page that is narrower shrinks a drawing

# A page may set the variables; otherwise the drawing follows the reader's theme.
_STYLE = """
.plan { --box: var(--plan-box, #ffffff); --ink: var(--plan-ink, #1f2933); --soft: var(--plan-soft, #5f6c7b);
  --edge: var(--plan-edge, #9aa5b1); --source: var(--plan-source, #e3eefc); --top: var(--plan-top, #e5f5ec); }
@media (prefers-color-scheme: dark) { .plan { --box: var(--plan-box, #20262e);
  --ink: var(--plan-ink, #e6eaef); --soft: var(--plan-soft, #9fb0c0); --edge: var(--plan-edge, #5b6875);
  --source: var(--plan-source, #1d3350); --top: var(--plan-top, #1c3a2b); } }
.plan rect { fill: var(--box); stroke: var(--edge); }
.plan .source rect { fill: var(--source); }
.plan .view rect { fill: var(--top); }
.plan path { fill: none; stroke: var(--edge); stroke-width: 1.4; }
.plan text { fill: var(--ink); font: 11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.plan .strategy { fill: var(--soft); font-style: italic; }
"""


@dataclass(eq=False)
class _Box:
    """One node of the drawing.

    below  boxes of all nodes that it reads
    own    those of them that are placed below this box: each is, below the lowest of its readers
    room   width of the box or, if larger, of all that are placed below it
    x, y   its middle, its top
    """

    node: PlanNode
    kind: str
    label: list[str]
    strategy: list[str]
    below: list[_Box] = field(default_factory=list)
    own: list[_Box] = field(default_factory=list)
    level: int = 0
    room: float = 0
    x: float = 0
    y: float = 0

    @property
    def width(self) -> float:
        longest = max(map(len, (*self.label, *self.strategy)))
        return longest * _CHARACTER + 2 * _PADDING

    @property
    def height(self) -> int:
        return (len(self.label) + len(self.strategy)) * _LINE + 2 * _PADDING - 3


def svg(view: str, root: PlanNode) -> str:
    """A drawing of the plan of a view."""
    top = _Box(PlanNode(view, "", (root,)), "view", [view], [])
    boxes = _boxes(top)
    _set_levels(boxes)
    _set_owners(boxes)
    _set_rooms(top)
    _place_across(top, _GAP_ACROSS)
    bottom = _place_down(boxes)
    width, height = round(top.room + 2 * _GAP_ACROSS), round(bottom + _GAP_ACROSS)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="plan" role="img" viewBox="0 0 {width} {height}"'
        f' width="{width}" style="max-width: 100%; min-width: {_SMALLEST * width:.0f}px; height: auto"'
        f' aria-label="plan of {escape(view)}">',
        f"<style>{_STYLE}</style>",
        *(_edge(box, below) for box in boxes for below in box.below),
        *(line for box in boxes for line in _drawn(box)),
        "</svg>",
    ]
    return "\n".join(lines)


def _boxes(top: _Box) -> list[_Box]:
    """The boxes of all nodes, each once."""
    boxes = {top.node: top}
    for node in nodes_of(top.node)[1:]:
        kind = "" if node.children else "source"
        boxes[node] = _Box(node, kind, _wrapped(node.label), _wrapped(node.strategy))
    for box in boxes.values():
        box.below = [boxes[child] for child in box.node.children]
    return list(boxes.values())


def _wrapped(text: str) -> list[str]:
    lines = textwrap.wrap(text, _LONGEST_LINE, break_long_words=True)
    return lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "…"]


def _set_levels(boxes: list[_Box]) -> None:
    """Each box is below all of its readers."""
    readers: dict[_Box, list[_Box]] = {box: [] for box in boxes}
    for box in boxes:
        for below in box.below:
            readers[below].append(box)

    @cache
    def level(box: _Box) -> int:
        return 1 + max(map(level, readers[box]), default=-1)

    for box in boxes:
        box.level = level(box)


def _set_owners(boxes: list[_Box]) -> None:
    owners: dict[_Box, _Box] = {}
    for box in boxes:
        for below in box.below:
            if below not in owners or box.level > owners[below].level:
                owners[below] = box
    for below, owner in owners.items():
        owner.own.append(below)


def _set_rooms(box: _Box) -> None:
    for below in box.own:
        _set_rooms(below)
    box.room = max(box.width, sum(one.room for one in box.own) + _GAP_ACROSS * max(0, len(box.own) - 1))


def _place_across(box: _Box, left: float) -> None:
    """Each box in the middle of its room, which no other box enters."""
    box.x = left + box.room / 2
    used = sum(one.room for one in box.own) + _GAP_ACROSS * max(0, len(box.own) - 1)
    at = box.x - used / 2
    for below in box.own:
        _place_across(below, at)
        at += below.room + _GAP_ACROSS


def _place_down(boxes: list[_Box]) -> float:
    """Returns: the bottom."""
    y = float(_GAP_ACROSS)
    for level in range(max(box.level for box in boxes) + 1):
        row = [box for box in boxes if box.level == level]
        for box in row:
            box.y = y
        y += max(box.height for box in row) + _GAP_DOWN
    return y - _GAP_DOWN


def _edge(box: _Box, below: _Box) -> str:
    middle = below.y - _GAP_DOWN / 2
    start, end = f"{box.x:.1f} {box.y + box.height:.1f}", f"{below.x:.1f} {below.y:.1f}"
    return f'<path d="M{start} C{box.x:.1f} {middle:.1f} {below.x:.1f} {middle:.1f} {end}"/>'


def _drawn(box: _Box) -> Iterator[str]:
    radius = 14 if box.kind else 5
    yield f'<g class="{box.kind or "operator"}">'
    yield f"<title>{escape(': '.join(filter(None, (box.node.label, box.node.strategy))))}</title>"
    yield (
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height}" rx="{radius}"/>'
    )
    y = box.y + _PADDING + 9
    for kind, lines in (("label", box.label), ("strategy", box.strategy)):
        for line in lines:
            place = f'x="{box.x:.1f}" y="{y:.1f}" text-anchor="middle"'
            yield f'<text class="{kind}" {place}>{escape(line)}</text>'
            y += _LINE
    yield "</g>"
