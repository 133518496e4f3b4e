"""Small tables full of ties, NULLs and duplicates, and random changes of several of them at once."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

Value = int | float | str | Decimal | None
Row = tuple[Value, ...]
Content = Mapping[str, Sequence[Row]]

COLUMNS = (
    ("k", "int"),
    ("a", "int"),
    ("b", "bigint"),
    ("d", "decimal(12,2)"),
    ("f", "double"),
    ("s", "string"),
)
TABLES = ("r", "s", "t")
# Columns with names that the compiler uses itself, and the columns that they repeat.
NAMED_LIKE_OURS = {"__ivm_w": "a", "__IVM_n": "b", "__ivm_m1": "k", "__ivm_of_source_w": "s", "__ivm_": "d"}
MOST_BATCHES = 3

_POOLS: dict[str, Sequence[Value]] = {
    "int": (None, 0, 1, 2, -1),
    "bigint": (None, 0, 1, 2, 3),
    "decimal(12,2)": (None, Decimal("0.00"), Decimal("0.01"), Decimal("-3.10"), Decimal("7.50")),
    "double": (None, 0.0, 1.5, -2.25),  # their sums are exact in any order
    "string": (None, "", "a", "A", "b"),
}


@dataclass(frozen=True)
class Change:
    """Rows deleted from a table and rows inserted."""

    deleted: tuple[Row, ...] = ()
    inserted: tuple[Row, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.deleted or self.inserted)


@dataclass(frozen=True)
class World:
    """The tables' first content, and the batches that change them."""

    rows: Content
    batches: tuple[Mapping[str, Change], ...]

    def versions(self) -> list[dict[str, list[Row]]]:
        """The content after 0, 1, … batches."""
        result = [{table: list(self.rows.get(table, ())) for table in TABLES}]
        for changes in self.batches:
            last = result[-1]
            result.append({table: applied(last[table], changes.get(table, Change())) for table in TABLES})
        return result


def random_world(rng: random.Random, batches: int) -> World:
    rows = {table: random_table(rng) for table in TABLES}
    content = dict(rows)
    made: list[dict[str, Change]] = []
    for _ in range(batches):
        insert_only = rng.random() < 0.3
        changes = {
            table: random_change(rng, content[table], insert_only) for table in TABLES if rng.random() < 0.75
        }
        content |= {table: applied(content[table], change) for table, change in changes.items()}
        made.append(changes)
    return World(rows, tuple(made))


def random_value(rng: random.Random, type_: str) -> Value:
    return rng.choice(_POOLS[type_])


def random_row(rng: random.Random) -> Row:
    return tuple(random_value(rng, type_) for _, type_ in COLUMNS)


def random_table(rng: random.Random) -> list[Row]:
    rows = [random_row(rng) for _ in range(rng.choice((0, 1, 2, 4, 7)))]
    return rows + [rng.choice(rows) for _ in range(2) if rows and rng.random() < 0.4]


def random_change(rng: random.Random, rows: Sequence[Row], insert_only: bool = False) -> Change:
    """Inserts, deletes of single copies, both, updates of any one column, or deletion of all rows."""
    kind = rng.choice(("none", "insert", "delete", "update", "mixed", "mixed", "clear"))
    if insert_only:
        kind = rng.choice(("none", "insert", "insert"))
    deleted: list[Row] = []
    inserted: list[Row] = []
    if kind == "clear":
        deleted = list(rows)
    if kind in ("delete", "mixed"):
        deleted = [row for row in rows if rng.random() < 0.35]
    if kind in ("insert", "mixed"):
        inserted = [
            rng.choice(rows) if rows and rng.random() < 0.3 else random_row(rng)
            for _ in range(rng.choice((1, 2, 3)))
        ]
    if kind == "update":
        for row in rows:
            if rng.random() < 0.4:
                position = rng.randrange(len(COLUMNS))
                new = list(row)
                new[position] = random_value(rng, COLUMNS[position][1])
                deleted.append(row)
                inserted.append(tuple(new))
    return Change(tuple(deleted), tuple(inserted))


def applied(rows: Sequence[Row], change: Change) -> list[Row]:
    content = Counter(rows)
    content.update(change.inserted)
    content.subtract(change.deleted)
    return list(content.elements())
