"""A change log that somebody else writes, and the table that it describes: the newest image of each key.

The table is a SELECT over the log, so a view over it is maintained from new rows of the log: the partitions
of ROW_NUMBER are the keys, and only keys that occur in new rows are computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkivm.names import RESERVED_PREFIX, in_changes, literal, quoted

_OPERATION = f"{RESERVED_PREFIX}operation"
_NEWEST = f"{RESERVED_PREFIX}newest"


@dataclass(frozen=True)
class ChangeLog:
    """How to read the entries of a log. Columns may be fields of structs: `source.lsn`.

    key         columns that identify a row of the table
    order       columns of the log; of two entries for a key, the one with the greater values is newer
    operation   column of the log that says what happened; values not listed below are an error
    upserts     values of it for entries after which the row exists
    deletes     values of it for entries after which it is gone; older than an upsert at the same place
    ignored     values of it for entries that do not concern a row
    after       struct with the row after the change; "" if the log itself has the columns
    before      struct with the row before the change, which has the key of a deleted row
    columns     of the table, if the log itself has them; empty: all but the `hidden` ones
    """

    key: tuple[str, ...]
    order: tuple[str, ...]
    operation: str
    upserts: tuple[str, ...]
    deletes: tuple[str, ...]
    ignored: tuple[str, ...] = ()
    after: str = ""
    before: str = ""
    columns: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


def current_rows(log: ChangeLog, table: str, columns: Sequence[str]) -> str:
    """A SELECT for the table that a log describes, on one line, so that a model's line numbers stay the same.

    columns  of the table
    """

    def place(name: str) -> str:
        return field(f"{log.after}.{name}") if log.after else field(name)

    def key(name: str) -> str:
        return f"coalesce({place(name)}, {field(f'{log.before}.{name}')})" if log.before else place(name)

    operation = field(log.operation)
    order = [f"{field(name)} desc" for name in log.order]
    if log.deletes:
        order.append(f"case when {_one_of(operation, log.deletes)} then 1 else 0 end")
    newest = f"row_number() over (partition by {', '.join(map(key, log.key))} order by {', '.join(order)})"
    images = [f"{place(name)} as {quoted(in_changes(name))}" for name in columns]
    entries = (
        f"select {', '.join(images)}, {operation} as {_OPERATION}, {newest} as {_NEWEST} "
        f"from {table} where {_one_of(operation, (*log.upserts, *log.deletes))}"
    )
    shown = ", ".join(
        quoted(name) if in_changes(name) == name else f"{quoted(in_changes(name))} as {quoted(name)}"
        for name in columns
    )
    is_there = _one_of(_OPERATION, log.upserts)
    return f"select {shown} from ({entries}) as entries where {_NEWEST} = 1 and {is_there}"


def unknown_operations(log: ChangeLog, table: str) -> str:
    """A query for operations that the declaration does not list."""
    operation = field(log.operation)
    known = _one_of(operation, (*log.upserts, *log.deletes, *log.ignored))
    # Kafka tombstones follow a deletion; their operation is NULL, so WHERE skips them.
    return f"select distinct cast({operation} as string) as operation from {table} where not {known} limit 5"


def field(path: str) -> str:
    """`source.lsn` as SQL."""
    return ".".join(map(quoted, path.split(".")))


def _one_of(expression: str, values: Sequence[str]) -> str:
    return f"{expression} in ({', '.join(map(literal, values))})"
