"""One entry of `partition_by`: a column, or one of Iceberg's transforms of a column.

tested  tests/unit/test_partition_field.py
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sparkivm.names import quoted, unquoted

_TRANSFORM = re.compile(
    r"\s*(?P<name>years?|months?|days?|hours?|bucket|truncate)\s*"
    r"\(\s*(?:(?P<before>\d+)\s*,\s*)?(?P<column>`(?:[^`]|``)+`|\w+)\s*(?:,\s*(?P<after>\d+)\s*)?\)\s*",
    re.I,
)


@dataclass(frozen=True)
class PartitionField:
    """A column, and what is computed from it; `number` is the buckets of BUCKET or the width of TRUNCATE."""

    column: str
    transform: str = ""
    number: str = ""

    @classmethod
    def of(cls, text: str) -> PartitionField:
        """From an entry as it is written for dbt-spark, which passes it on as SQL."""
        found = _TRANSFORM.fullmatch(text)
        if found is None:
            return cls(unquoted(text.strip()))
        number = found["before"] or found["after"] or ""
        return cls(unquoted(found["column"]), found["name"].lower(), number)

    @property
    def sql(self) -> str:
        """The entry in PARTITIONED BY."""
        if not self.transform:
            return quoted(self.column)
        return f"{self.transform}({', '.join(filter(None, (self.number, quoted(self.column))))})"
