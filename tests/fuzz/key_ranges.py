"""The spans of changed keys in the embedded engine; its tables are assumed to be large."""

from __future__ import annotations

from sparkivm.plan.key_ranges import KeyRanges, Span
from sparkivm.plan.needed_rows import ChangedColumn, needs
from sparkivm.plan.state_change import StateChange
from tests.fuzz.embedded import Embedded

_WHOLE_NUMBERS = ("int", "bigint")


def key_ranges(database: Embedded, change: StateChange, version: int) -> KeyRanges:
    """The spans of all whole-number columns, so that each table is cut down as much as possible."""
    numbers = {
        (table, field.name)
        for table, fields in database.catalog.tables.items()
        for field in fields
        if field.type in _WHOLE_NUMBERS
    }
    changed = {
        column
        for part in change.parts
        for alternatives in needs(part, change.staged).values()
        for need in alternatives
        for within in need
        for column in within.changed
        if (column.table, column.field) in numbers
    }
    spans = {column: _span(database, column, version) for column in changed}
    return KeyRanges(spans, dict.fromkeys(numbers, 1e12))


def _span(database: Embedded, column: ChangedColumn, version: int) -> Span | None:
    rows = f"{column.table}_changes_{version}"
    ((low, high),) = database.rows(f'select min("{column.field}"), max("{column.field}") from {rows}')
    return None if low is None else Span(low, high)
