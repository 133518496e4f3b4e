"""Values that GROUP BY treats as equal although expressions tell them apart: 0.0 and -0.0, and maps with the
same entries in another order.

If GROUP BY has a MAP, Spark sorts its entries wherever the statement reads it. So rows are grouped by the
entries, not by the map.

tested  tests/unit/test_map_columns.py, tests/laws/test_recorded_changes.py, tests/spark/test_map_order.py
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sparkivm.names import RESERVED_PREFIX, quoted
from sparkivm.spark.data_types import SparkType


def conflates(type_: SparkType) -> bool:
    """Whether values of the type may be equal for GROUP BY, but not for expressions."""
    return type_.holds_floating or type_.holds_map


def grouped(names: Sequence[str], conflated: Iterable[tuple[str, SparkType]]) -> tuple[list[str], list[str]]:
    """SELECT items and GROUP BY keys that group only rows that every expression treats alike.

    conflated  those of the columns whose types conflate values
    """
    types = dict(conflated)
    items = [f"first({quoted(name)}) as {quoted(name)}" if name in types else quoted(name) for name in names]
    keys = [quoted(name) for name in names if name not in types]
    keys += [in_entry_order(quoted(name), type_) for name, type_ in types.items()]
    keys += [as_text(quoted(name)) for name, type_ in types.items() if type_.holds_floating]
    return items, keys


def as_text(value: str) -> str:
    """A text in which -0.0 and 0.0 differ."""
    return f"cast({value} as string)"


def in_entry_order(value: str, type_: SparkType, depth: int = 0) -> str:
    """The value with an array of entries in place of each MAP in it."""
    if not type_.holds_map:
        return value
    element = f"{RESERVED_PREFIX}e{depth}"

    def inner(text: str, part: SparkType) -> str:
        return in_entry_order(text, part, depth + 1)

    match type_.word:
        case "map":
            entries, part = f"map_entries({value})", type_.parts[1]  # a key has no map in it
            if not part.holds_map:
                return entries
            pair = f"struct({element}.key, {inner(f'{element}.value', part)})"
            return f"transform({entries}, {element} -> {pair})"
        case "array":
            return f"transform({value}, {element} -> {inner(element, type_.parts[0])})"
        case _:
            fields = zip(type_.names, type_.parts, strict=True)
            parts = (inner(f"{value}.{quoted(name)}", part) for name, part in fields)
            return f"if({value} is null, null, struct({', '.join(parts)}))"
