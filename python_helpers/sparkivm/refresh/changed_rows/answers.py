"""Answers about a source's changes, kept for the run: its views ask similar questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from sparkivm.plan.key_ranges import Span

NULL_TEXT = "null"


@dataclass(frozen=True)
class FewRows:
    """Changed rows with their weights, not consolidated; each value as text, NULL_TEXT for NULL."""

    fields: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]

    def know(self, fields: Collection[str]) -> bool:
        """Whether the rows have all of these columns."""
        return set(fields) <= set(self.fields)

    def are_silent(self, fields: Collection[str]) -> bool:
        """Whether the changes cancel each other in these columns."""
        places = [self.fields.index(field) for field in fields]
        left: Counter[tuple[str, ...]] = Counter()
        for weight, texts in self.rows:
            left[tuple(texts[place] for place in places)] += weight
        return not any(left.values())

    def span(self, field: str) -> Span | None:
        """The least and the greatest value of an integer column; None if it has no values."""
        place = self.fields.index(field)
        values = [int(texts[place]) for _, texts in self.rows if texts[place] != NULL_TEXT]
        return Span(min(values), max(values)) if values else None


@dataclass
class Answers:
    """About one source between two versions. Threads may ask twice and get the same answer."""

    few: FewRows | None = None  # not fetched yet, or more than a few
    # By column, and the columns in which the changes were netted before; () if they were not.
    spans: dict[tuple[str, tuple[str, ...]], Span | None] = field(default_factory=dict)
