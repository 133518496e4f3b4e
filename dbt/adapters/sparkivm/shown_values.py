"""Times, sizes and counts as people read them; None stays None."""

from __future__ import annotations

from datetime import datetime


def seconds(value: float | None) -> str | None:
    """`0.31 s`, `12.0 s`, `4 min`"""
    if value is None:
        return None
    if abs(value) >= 600:
        return f"{value / 60:.0f} min"
    return f"{value:.2f} s" if abs(value) < 10 else f"{value:.1f} s"


def minutes(value: float | None) -> str | None:
    """`5 min`, `3.2 h`, `2.5 days`"""
    if value is None:
        return None
    if value < 120:
        return f"{value:.0f} min"
    return f"{value / 60:.1f} h" if value < 48 * 60 else f"{value / 60 / 24:.1f} days"


def size(value: int | None) -> str | None:
    """Bytes with a unit."""
    if value is None:
        return None
    number = float(value)
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} TB"


def count(value: int | None) -> str | None:
    return None if value is None else f"{value:,}"


def at(text: str) -> str:
    """A time of an operation, in the zone of this machine."""
    return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M:%S}"
