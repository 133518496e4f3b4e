"""The commits of a source that a view has not read yet, and how long the source keeps what they need.

tested  tests/unit/test_waiting.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sparkivm.engine import Commit

_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 24 * 3600, "week": 7 * 24 * 3600}
_PARTS = re.compile(r"(\d+) *(" + "|".join(_SECONDS) + r")s?\b")
_SPAN = re.compile(rf"(?:interval)? *'?((?:{_PARTS.pattern} *)+)'?")


@dataclass(frozen=True)
class Waiting:
    """What a refresh would read.

    commits        that may have changed rows, oldest first
    kept_until_ms  from then on, maintenance of the table may remove what the refresh needs; None if it never
                   does, or if nothing is needed
    """

    commits: tuple[Commit, ...] = ()
    kept_until_ms: int | None = None


NOTHING = Waiting()


def span_ms(text: str) -> int | None:
    """The length of a time such as `30 days` or `interval 1 week 12 hours`; None for another text."""
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        return None
    return 1000 * sum(int(number) * _SECONDS[unit] for number, unit in _PARTS.findall(found[1]))


def property_ms(properties: Mapping[str, str], name: str, default: str) -> int | None:
    """A time that a table's property says, or its default; None if it cannot be read."""
    return span_ms(properties.get(name, default))
