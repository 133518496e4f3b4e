"""Random changes of any table, as statements that Spark and the embedded engine both run."""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp

from sparkivm.engine import Field
from sparkivm.names import quoted

Row = Sequence[Any]
_DAY = datetime.timedelta(days=1)


def changes(rng: random.Random, table: str, fields: Sequence[Field], rows: Sequence[Row]) -> Iterator[str]:
    """An INSERT of two rows, an UPDATE of two values, an UPDATE to NULL and a DELETE, as far as there are rows.

    New values are those of other rows, or follow the greatest, so that joins and filters keep finding rows.
    """
    if not rows:
        return
    ordered = sorted(rows, key=repr)
    values = ", ".join(f"({_row(_new_row(rng, fields, ordered), fields)})" for _ in range(2))
    yield f"insert into {table} values {values}"
    changed, cleared, *gone = (
        rng.sample(ordered, min(3, len(ordered))) if len(ordered) > 1 else [ordered[0]] * 2
    )
    column = rng.randrange(len(fields))
    for row, value in ((changed, rng.choice(ordered)[column]), (cleared, None)):
        item = f"{quoted(fields[column].name)} = {_literal(value, fields[column].type)}"
        yield f"update {table} set {item} where {_is(row, fields)}"
        column = rng.randrange(len(fields))
    for row in gone:
        yield f"delete from {table} where {_is(row, fields)}"


def _new_row(rng: random.Random, fields: Sequence[Field], rows: Sequence[Row]) -> Row:
    """Each value is of some row; values of keys are new or those of one row."""
    like = rng.choice(rows)
    row = [value if rng.random() < 0.6 else rng.choice(rows)[place] for place, value in enumerate(like)]
    for place in range(len(fields)):
        known = [other[place] for other in rows]
        if len(set(known)) == len(known) > 1 and rng.random() < 0.5:
            row[place] = _after(rng, row[place])
    return row


def _after(rng: random.Random, value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value + rng.randint(1, 3)
    if isinstance(value, str):
        return f"{value}{rng.randint(1, 3)}"
    return value + _DAY if isinstance(value, datetime.date) else value


def _row(row: Row, fields: Sequence[Field]) -> str:
    return ", ".join(_literal(value, field.type) for value, field in zip(row, fields, strict=True))


def _is(row: Row, fields: Sequence[Field]) -> str:
    return " and ".join(
        f"{quoted(field.name)} <=> {_literal(value, field.type)}"
        for value, field in zip(row, fields, strict=True)
    )


def _literal(value: Any, type_: str) -> str:
    if value is None:
        return f"cast(null as {type_})"
    return f"cast({exp.Literal.string(str(value)).sql('spark')} as {type_})"
