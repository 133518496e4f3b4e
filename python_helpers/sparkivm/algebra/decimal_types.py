"""DECIMAL by its text: how many digits it has."""

from __future__ import annotations

import re

MOST_DIGITS = 38
_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


def precision_and_scale(type_: str) -> tuple[int, int] | None:
    """All digits, and those behind the point; None of another type."""
    found = _DECIMAL.fullmatch(type_)
    return (int(found[1]), int(found[2])) if found else None
