"""How a statement reads sources: every read names a version, and a table's changes occur once.

A bare table name beside `table_changes` of the same table returns wrong rows on Spark 4.1 and 4.2: Spark uses
the first one resolved for both (SPARK-58330, SPARK-58389; fixed in 4.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from sparkivm.algebra.spark_text import SparkText
from sparkivm.engine import Field, RelationFacts
from sparkivm.formats import format_of
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import WEIGHT, as_in_changes, in_changes, quoted
from sparkivm.spark.equal_values import grouped


@dataclass(frozen=True)
class PinnedTable:
    """A table at its target version, and its changes since the frontier."""

    facts: RelationFacts
    change: SourceChange | None = None
    where: str = ""  # a condition; other rows are not needed
    kept: str = ""  # the relation that caches its rows in memory


class RefreshTexts:
    """SourceTexts of one refresh.

    others   relations without versions, as FROM items
    moments  by key, as literals at the refresh and at the frontier
    """

    def __init__(
        self,
        tables: Mapping[str, PinnedTable],
        others: Mapping[str, str] | None = None,
        moments: tuple[Mapping[str, str], Mapping[str, str]] = ({}, {}),
    ) -> None:
        self._tables = tables
        self._others = {} if others is None else others
        self._moments = moments

    def new(self, table: str) -> str:
        if table in self._others:
            return self._others[table]
        pinned = self._tables[table]
        text = pinned.kept or pinned.facts.pinned
        return f"(select * from {text} where {pinned.where})" if pinned.where else text

    def old(self, table: str) -> str:
        pinned = self._tables[table]
        return format_of(pinned.facts).old_rows(pinned.facts.name, self._change(pinned))

    def changes(self, table: str, fields: Sequence[str]) -> str:
        pinned = self._tables[table]
        change = self._change(pinned)
        if change.kept:
            names = (quoted(in_changes(field)) for field in fields)
            rows = f"select {', '.join([*names, WEIGHT])}\nfrom {change.kept}"
        else:
            rows = _recorded_rows(pinned.facts, change, fields)
        return _netted(rows, fields, change.conflated) if change.nets else rows

    def moment(self, key: str, before: bool) -> exp.Expr:
        return sqlglot.parse_one(self._moments[before][key], dialect=SparkText)

    @staticmethod
    def _change(pinned: PinnedTable) -> SourceChange:
        assert pinned.change is not None, f"{pinned.facts.name} did not change"
        return pinned.change


def changed_rows(table: RelationFacts, change: SourceChange, fields: Sequence[str]) -> str:
    """The changed rows with their weights; netted first if many may cancel each other.

    Their columns are named by `in_changes`.
    """
    rows = _recorded_rows(table, change, fields)
    return _netted(rows, fields, change.conflated) if change.is_netted_first else rows


def _recorded_rows(table: RelationFacts, change: SourceChange, fields: Sequence[str]) -> str:
    columns = [*map(as_in_changes, fields)]
    if change.how == "diff":
        return _diff(table, change, columns)
    return format_of(table).recorded_rows(table.name, change, columns)


def _netted(rows: str, fields: Sequence[str], conflated: Iterable[Field]) -> str:
    """Rows with the sum of their weights, without those whose sum is 0."""
    total = f"sum({WEIGHT})"
    read = ((in_changes(field.name), field.spark_type) for field in conflated if field.name in fields)
    shown, keys = grouped([*map(in_changes, fields)], read)
    group = f"\ngroup by {', '.join(keys)}" if keys else ""
    items = ", ".join([*shown, f"{total} as {WEIGHT}"])
    return f"select {items}\nfrom (\n{rows}\n) as changed{group}\nhaving {total} <> 0"


def _diff(table: RelationFacts, change: SourceChange, columns: list[str]) -> str:
    versions = ((table.pinned, "1"), (format_of(table).old_rows(table.name, change), "-1"))
    return "\nunion all\n".join(
        f"select {', '.join([*columns, f'{weight} as {WEIGHT}'])}\nfrom {version}"
        for version, weight in versions
    )
