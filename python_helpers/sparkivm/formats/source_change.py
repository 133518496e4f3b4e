"""What happened to one source between the frontier and its version now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from sparkivm.engine import Field

_MANY_ROWS = 50_000


@dataclass(frozen=True)
class SourceChange:
    """How the rows that changed in (old, new] can be read; both as VERSION AS OF takes them.

    none  no row changed;  feed  from the changes that the table records;  diff  by comparing the two versions
    """

    how: Literal["none", "feed", "diff"]
    old: int
    new: int
    rows: int = 0  # that came or went at most, an update counted twice, as far as the commits say it
    counted: bool = True  # whether all of them do
    append_only: bool = False
    nets: bool = False  # changes may cancel each other
    scans: int = 0  # how often the table itself is read to find them
    growth: int | None = None  # rows that came less rows that went, None if the commits do not say
    kept: str = ""  # the relation in which they were put in memory, with their weights
    whole_files: bool = False  # whether `rows` counts all rows of the files in which some changed
    floats: frozenset[str] = frozenset()  # columns of FLOAT or DOUBLE, or with some inside

    @property
    def is_netted_first(self) -> bool:
        """Whether most rows may cancel each other, as after an overwrite: readers would net them again."""
        return self.how == "diff" or (self.nets and self.rows >= _MANY_ROWS)


def floating(fields: Iterable[Field]) -> tuple[str, ...]:
    """Columns of FLOAT or DOUBLE, or with some inside."""
    return tuple(field.name for field in fields if field.spark_type.holds_floating)
