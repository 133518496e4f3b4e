"""A change log that somebody else writes, and the table that it tells of: the newest image of each key.

The table is a SELECT over the log, so a view over it is maintained from the rows that the log gains: the
partitions of ROW_NUMBER are the keys, and only those that the new rows name are looked at again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkivm.names import RESERVED_PREFIX, in_changes, literal, quoted

_OPERATION = f"{RESERVED_PREFIX}operation"
_NEWEST = f"{RESERVED_PREFIX}newest"


@dataclass(frozen=True)
class ChangeLog:
    """How the entries of a log are to be read. Columns may be fields of structs: `source.lsn`.

    key         columns of the table that tell its rows apart
    order       columns of the log; of two entries of a key, the one with the greater values is the newer
    operation   column of the log that says what happened; other values than these are an error
    upserts     values of it for entries after which the row is there
    deletes     values of it for entries after which it is gone; older than an upsert at the same place
    ignored     values of it for entries that say nothing of a row
    after       struct with the row as it is after the change; "" where the log itself has its columns
    before      struct with the row as it was, which has the key of a row that is gone
    columns     of the table, where the log itself has them; none: all but `hidden` ones
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
    """A SELECT for the table that a log tells of, on one line, so that lines of a model keep their numbers.

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
    """A query for values of the operation that the declaration does not name."""
    operation = field(log.operation)
    known = _one_of(operation, (*log.upserts, *log.deletes, *log.ignored))
    # Kafka's tombstones follow a deletion and have no operation.
    return f"select distinct cast({operation} as string) as operation from {table} where not {known} limit 5"


def field(path: str) -> str:
    """`source.lsn` as SQL."""
    return ".".join(map(quoted, path.split(".")))


def _one_of(expression: str, values: Sequence[str]) -> str:
    return f"{expression} in ({', '.join(map(literal, values))})"
