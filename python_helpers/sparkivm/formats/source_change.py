"""How one source changed between the frontier and its current version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sparkivm.engine import Field
from sparkivm.spark.equal_values import conflates

_MANY_ROWS = 50_000


@dataclass(frozen=True)
class SourceChange:
    """How to read the rows that changed in (old, new]; both are values for VERSION AS OF.

    none  no row changed;  feed  from the table's recorded changes;  diff  by comparing the two versions
    """

    how: Literal["none", "feed", "diff"]
    old: int
    new: int
    rows: int = 0  # inserted or deleted at most, updates counted twice, as far as commits say
    counted: bool = True  # whether all commits say it
    append_only: bool = False
    nets: bool = False  # changes may cancel each other
    scans: int = 0  # how often the table itself is read to find them
    growth: int | None = None  # inserted minus deleted rows, None if the commits do not say
    kept: str = ""  # the relation that caches the changes in memory, with their weights
    whole_files: bool = False  # whether `rows` includes unchanged rows of changed files
    conflated: tuple[Field, ...] = ()  # columns in which equal values may differ

    @property
    def is_netted_first(self) -> bool:
        """Whether most rows may cancel out, as after an overwrite, and readers would net them repeatedly."""
        return self.how == "diff" or (self.nets and self.rows >= _MANY_ROWS)


def conflated(fields: Iterable[Field]) -> tuple[Field, ...]:
    """Columns in which values that GROUP BY treats as equal may differ."""
    return tuple(field for field in fields if conflates(field.spark_type))
