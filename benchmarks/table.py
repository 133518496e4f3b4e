"""Plain text tables for the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence


def text_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns two spaces apart; columns with numbers are right-aligned, None prints as `-`."""
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(header), *cells]) for i in range(len(header))]
    right = [any(_is_number(row[i]) for row in rows) for i in range(len(header))]

    def line(values: Sequence[str]) -> str:
        aligned = (v.rjust(w) if r else v.ljust(w) for v, w, r in zip(values, widths, right, strict=True))
        return "  ".join(aligned).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(header), rule, *(line(row) for row in cells)])


def _is_number(value: object) -> bool:
    """Whether a value is a number, or a text like `1.25` or `3.1x`."""
    if isinstance(value, str):
        return re.fullmatch(r"[\d.,]+x?", value) is not None
    return isinstance(value, int | float)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
