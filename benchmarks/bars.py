"""A picture of refreshes beside rebuilds: horizontal bars, as a self-contained SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_FULL_COLOR, _REFRESH_COLOR, _TEXT, _FAINT = "#c2c8d0", "#1f6feb", "#1f2328", "#59636e"
_WIDTH, _MARGIN, _RIGHT = 860, 24, 70  # room for a number to the right of the longest bar
_BAR, _ROW, _SECTION = 11, 34, 40
_LETTER = 7.9  # average width of a 13-pixel letter


@dataclass(frozen=True)
class Bar:
    """One line: seconds of a rebuild and of a refresh."""

    label: str
    full_s: float
    refresh_s: float


@dataclass(frozen=True)
class Section:
    """Lines with a scale of their own."""

    title: str
    bars: Sequence[Bar]


def picture(title: str, subtitle: str, sections: Sequence[Section], footer: str) -> str:
    """The whole SVG; its height depends on the number of lines."""
    labels = [bar.label for section in sections for bar in section.bars]
    left = _MARGIN + max(len(label) for label in labels) * _LETTER + 12
    parts = [
        _text(_MARGIN, 38, title, size=19, weight=600),
        _text(_MARGIN, 60, subtitle, color=_FAINT),
        *_legend(_MARGIN, 84),
    ]
    y = 100.0
    for section in sections:
        y += _SECTION
        parts.append(_text(_MARGIN, y - 12, section.title, color=_FAINT, weight=600))
        longest = max(max(bar.full_s, bar.refresh_s) for bar in section.bars)
        scale = (_WIDTH - _RIGHT - left) / longest
        for bar in section.bars:
            parts += _line(bar, left, y, scale)
            y += _ROW
    y += 20
    parts.append(_text(_MARGIN, y, footer, size=11, color=_FAINT))
    height = y + 18
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" '
        f'width="{_WIDTH}" height="{height:.0f}" role="img" aria-label="{escape(title, _QUOTES)}" '
        'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">\n'
        f'<rect width="100%" height="100%" rx="8" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


_QUOTES = {'"': "&quot;"}


def _legend(x: float, y: float) -> list[str]:
    return [
        _bar(x, y - 10, _BAR, _FULL_COLOR),
        _text(x + 18, y, "rebuilt as a table"),
        _bar(x + 160, y - 10, _BAR, _REFRESH_COLOR),
        _text(x + 178, y, "refreshed as an incremental view"),
    ]


def _line(bar: Bar, left: float, y: float, scale: float) -> list[str]:
    parts = [_text(left - 12, y + 16, bar.label, anchor="end")]
    for offset, seconds, color in ((0, bar.full_s, _FULL_COLOR), (13, bar.refresh_s, _REFRESH_COLOR)):
        width = max(1.0, seconds * scale)
        parts.append(_bar(left, y + offset, width, color))
        parts.append(_text(left + width + 5, y + offset + 9.5, _seconds(seconds), size=11, color=_FAINT))
    return parts


def _bar(x: float, y: float, width: float, color: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BAR}" rx="2" fill="{color}"/>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 13,
    color: str = _TEXT,
    weight: int = 400,
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{color}" '
        f'text-anchor="{anchor}">{escape(text)}</text>'
    )


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"
