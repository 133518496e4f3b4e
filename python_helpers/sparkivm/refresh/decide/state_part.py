"""The part of a state that is replaced: the rows that have certain values in one column.

DELETE and INSERT in one commit, without the join of a MERGE: `INSERT INTO … REPLACE WHERE column IN (…)`
reads one column to find the rows, marks them deleted, and appends. Measured on 6 million rows, of which
12,000 change: 4 s, against 18 s for a MERGE (docs/decisions/009-replace-a-part-of-the-state.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot.dialects.spark import Spark

from sparkivm.engine import Engine, Field
from sparkivm.names import literal, quoted
from sparkivm.spark.data_types import STRING

# Planning takes about a second per 10,000 values.
_MOST_VALUES = 20_000
_LONGEST_TEXT = 1_000_000  # characters of all values
# The part may have this many rows per changed row, plus this many.
_MOST_ROWS_PER_CHANGE = 4
_SMALL_PART_ROWS = 100_000
# Delta prints the predicate and parses it again: a value must need no escapes. Bytes that are not UTF-8
# arrive here as U+FFFD.
_PLAIN = re.compile(r"[^'\"\\$`;\x00-\x1f\ufffd]*")
# Delta prints some names without quotes: `not in (1)` or `null in (1)` would match other rows. Older
# versions of Spark also print names like `7d` so, which is a number.
_KEYWORDS = frozenset(word.lower() for word in Spark.Tokenizer.KEYWORDS)
_MOST_COLUMNS_TRIED = 2
# The values of so few rows say little about a column, and planning those of several columns takes no time.
_FEW_ROWS = 1_000
_MOST_COLUMNS_COUNTED = 4


@dataclass(frozen=True)
class StatePart:
    """The rows of a state for which `predicate` is true; `bounds` is true for them and few others.

    Both are empty if there are no such rows.
    """

    column: str
    predicate: str
    bounds: str


def part_columns(fields: Sequence[Field], names: Sequence[str]) -> tuple[str, ...]:
    """The columns whose values can be printed exactly, whole numbers first."""
    types = {
        field.name: field.spark_type
        for field in fields
        if field.name.lower() not in _KEYWORDS and not field.name[0].isdigit()
    }
    known = [name for name in names if name in types]
    # Delta 4.4 fails for decimals.
    numbers = [name for name in known if types[name].whole]
    return (*numbers, *(name for name in known if types[name] == STRING))


def find_part(
    engine: Engine, changes: str, state: str, state_rows: float, columns: Sequence[str], exact: bool
) -> StatePart | None:
    """The part of a state that has all rows that may change; an empty part if nothing changed.

    None if the part is too large, or its values cannot be printed.

    changes     FROM item of the changed rows
    state       FROM item of the state
    state_rows  about how many rows it has
    columns     of both, at least one
    exact       whether each row with a changed value is a changed row, so no other row is read
    """
    for tried, slack in _candidates(engine, changes, state_rows, columns):
        parts = list[StatePart]()
        for found in tried:
            part = _part(engine, changes, found)
            if part is None:
                continue
            if exact or not part.predicate or found.spread * _MOST_ROWS_PER_CHANGE >= state_rows:
                return part
            parts.append(part)
        if parts and (smallest := _smallest(engine, changes, state, parts, slack)) is not None:
            return smallest
    return None


@dataclass(frozen=True)
class _Column:
    """A column of the changed rows.

    spread  how many values there may be in the state between the column's least and greatest
    values  all of them; None if not read
    """

    name: str
    spread: int = 0
    values: frozenset[Any] | None = None


def _candidates(
    engine: Engine, changes: str, state_rows: float, columns: Sequence[str]
) -> list[tuple[list[_Column], int]]:
    """The columns to try, in turn or together, and how many unchanged rows their part may have in any case.

    Numbers of a wide range have few rows per value in any state. If few rows changed, a key may have only one
    value, so several columns are counted; mostly, keys are the first ones. To count one column of a large
    state reads less, since files are skipped.
    """
    if len(columns) == 1:
        return [([_Column(columns[0])], _SMALL_PART_ROWS)]
    names = [quoted(column) for column in columns]
    rows = engine.query(f"select {', '.join(names)} from {changes} limit {_MOST_VALUES + 1}")
    found = (
        [_of_values(column, frozenset(row[column] for row in rows)) for column in columns]
        if len(rows) <= _MOST_VALUES
        else _of_many(engine, changes, columns)
    )
    widest = sorted(found, key=lambda column: -column.spread)[:_MOST_COLUMNS_TRIED]
    if len(rows) > _FEW_ROWS:
        return [([column], _SMALL_PART_ROWS) for column in widest]
    several = [*widest, *(column for column in found if column not in widest)][:_MOST_COLUMNS_COUNTED]
    alone = [(widest[:1], 0)] if state_rows > _SMALL_PART_ROWS else []
    return [*alone, (several, _SMALL_PART_ROWS)]


def _of_values(name: str, values: frozenset[Any]) -> _Column:
    numbers = [value for value in values if isinstance(value, int)]
    return _Column(name, max(numbers) - min(numbers) + 1 if numbers else len(values), values)


def _of_many(engine: Engine, changes: str, columns: Sequence[str]) -> list[_Column]:
    """The same for more rows than are fetched, without the values."""
    counts = ", ".join(
        f"approx_count_distinct({name}) as n{i}, min({name}) as a{i}, max({name}) as z{i}"
        for i, name in enumerate(map(quoted, columns))
    )
    (row,) = engine.query(f"select {counts} from {changes}")

    def spread(index: int) -> int:
        low, high = row[f"a{index}"], row[f"z{index}"]
        return int(row[f"n{index}"] if low is None or isinstance(low, str) else high - low + 1)

    return [_Column(name, spread(index)) for index, name in enumerate(columns)]


def _part(engine: Engine, changes: str, column: _Column) -> StatePart | None:
    name = quoted(column.name)
    found = column.values
    if found is None:
        rows = engine.query(f"select distinct {name} as value from {changes} limit {_MOST_VALUES + 1}")
        found = frozenset(row["value"] for row in rows)
    values = sorted(value for value in found if value is not None)
    if len(found) > _MOST_VALUES or not all(map(_is_plain, values)):
        return None
    texts = [_text(value) for value in values]
    if sum(map(len, texts)) > _LONGEST_TEXT:
        return None
    alternatives, bounds = [], []
    if values:
        alternatives.append(f"{name} in ({', '.join(texts)})")
        bounds.append(f"{name} between {texts[0]} and {texts[-1]}")
    if None in found:
        alternatives.append(f"{name} is null")
        bounds.append(f"{name} is null")
    return StatePart(column.name, " or ".join(alternatives), " or ".join(bounds))


def _smallest(
    engine: Engine, changes: str, state: str, parts: Sequence[StatePart], slack: int
) -> StatePart | None:
    """The part with the fewest rows; None if it is too large."""
    held = ", ".join(f"count_if({part.predicate}) as held{i}" for i, part in enumerate(parts))
    within = " or ".join(part.predicate for part in parts)
    (row,) = engine.query(
        f"select * from (select count(*) as changed from {changes}) as c"
        f" cross join (select {held} from {state} where {within}) as s"
    )
    fewest, index = min((row[f"held{i}"], i) for i in range(len(parts)))
    small = fewest <= _MOST_ROWS_PER_CHANGE * row["changed"] + slack
    return parts[index] if small else None


def _is_plain(value: Any) -> bool:
    """Whether it is safe in a predicate. A DECIMAL is not; an equality of a join may cause one."""
    return isinstance(value, int) or (isinstance(value, str) and _PLAIN.fullmatch(value) is not None)


def _text(value: Any) -> str:
    return literal(value) if isinstance(value, str) else str(value)
