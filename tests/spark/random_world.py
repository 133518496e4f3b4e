"""The tables of `tests.fuzz.random_data` as Delta tables. Random changes arrive by random kinds of writes."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from itertools import count

from tests.fuzz.random_data import COLUMNS, TABLES, Change, Row, Value, random_change, random_table
from tests.spark.lab import Lab

_NAMES = ("id", *(name for name, _ in COLUMNS))
_DECIMAL, _FINE = "decimal(12,2)", "decimal(18,8)"
_LAST_DIGIT = Decimal("0.00000001")

Content = dict[int, Row]


class RandomWorld:
    """Three tables. `content` is what they hold now, by id; ids distinguish copies, and no query reads them.

    Decimals have two digits or eight; a sum must not lose any of them.
    """

    def __init__(self, lab: Lab, rng: random.Random) -> None:
        self._lab, self._rng, self._ids = lab, rng, count(1)
        self.content: dict[str, Content] = {}
        self.written: list[str] = []  # every statement so far, for the reproducer
        fine = rng.random() < 0.5
        self._types = ["bigint", *(_FINE if fine and type_ == _DECIMAL else type_ for _, type_ in COLUMNS)]
        columns = ", ".join(map(" ".join, zip(_NAMES, self._types, strict=True)))
        for table in TABLES:
            self.content[table] = {next(self._ids): row for row in random_table(rng)}
            self._write(f"create table {table} ({columns}) {lab.using}")
            self._insert(table, self.content[table])

    def change(self) -> None:
        """Change some of the tables, each by one or more commits."""
        insert_only = self._rng.random() < 0.3
        for table in TABLES:
            if self._rng.random() < 0.75:
                self._change(table, random_change(self._rng, list(self.content[table].values()), insert_only))

    def _change(self, table: str, change: Change) -> None:
        deleted = self._ids_of(table, change.deleted)
        inserted = list(change.inserted)
        updated = dict(zip(deleted, inserted, strict=False))
        gone, new = deleted[len(updated) :], {next(self._ids): row for row in inserted[len(updated) :]}
        old = dict(self.content[table])
        self.content[table] = {**{i: updated.get(i, row) for i, row in old.items() if i not in gone}, **new}
        if not deleted and self._rng.random() < 0.8:
            self._insert(table, new)
            return
        way = self._rng.choice(
            (self._by_statements, self._by_statements, self._by_merge, self._by_merge, self._by_overwrite)
        )
        way(table, gone, updated, new)

    def _ids_of(self, table: str, rows: tuple[Row, ...]) -> list[int]:
        """One id for each copy of a row."""
        wanted, found = Counter(rows), []
        for identifier, row in self.content[table].items():
            if wanted[row] > 0:
                wanted[row] -= 1
                found.append(identifier)
        return found

    # ways to write

    def _by_statements(self, table: str, gone: list[int], updated: Content, new: Content) -> None:
        self._insert(table, new)
        if updated:
            ids = ", ".join(map(str, updated))
            cases = {
                name: " ".join(f"when {i} then {literal(row[position], type_)}" for i, row in updated.items())
                for position, ((name, _), type_) in enumerate(zip(COLUMNS, self._types[1:], strict=True))
            }
            sets = ", ".join(f"{name} = case id {whens} end" for name, whens in cases.items())
            self._write(f"update {table} set {sets} where id in ({ids})")
        if gone:
            self._write(f"delete from {table} where id in ({', '.join(map(str, gone))})")

    def _by_merge(self, table: str, gone: list[int], updated: Content, new: Content) -> None:
        empty: Row = (None,) * len(COLUMNS)
        rows = {**dict.fromkeys(gone, empty), **updated, **new}
        if not rows:
            return
        deleted = ", ".join(map(str, gone)) or "-1"
        self._write(
            f"merge into {table} as t using ({self._values(rows)}) as n on t.id = n.id "
            f"when matched and n.id in ({deleted}) then delete when matched then update set * when not matched then insert *"
        )

    def _by_overwrite(self, table: str, gone: list[int], updated: Content, new: Content) -> None:
        content = self.content[table]
        if not content:
            self._write(f"truncate table {table}")
        elif self._rng.random() < 0.5:
            self._write(f"insert overwrite {table} {self._values(content)}")
        else:
            self._write(f"create or replace table {table} {self._lab.using} as {self._values(content)}")

    def _insert(self, table: str, rows: Content) -> None:
        if rows:
            self._write(f"insert into {table} {self._values(rows)}")

    def _values(self, rows: Content) -> str:
        """Rows as a SELECT with the tables' types."""
        first = True
        lines = []
        for identifier, row in rows.items():
            items = [
                literal(value, type_) for value, type_ in zip((identifier, *row), self._types, strict=True)
            ]
            if first:
                items = [f"cast({item} as {type_})" for item, type_ in zip(items, self._types, strict=True)]
                first = False
            lines.append(f"({', '.join(items)})")
        return f"select * from values {', '.join(lines)} as _({', '.join(_NAMES)})"

    def _write(self, statement: str) -> None:
        self.written.append(statement)
        self._lab.run(statement)


def literal(value: Value, type_: str) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, Decimal):
        return f"{value + _LAST_DIGIT if value and type_ == _FINE else value}BD"
    if isinstance(value, float):
        return f"{value!r}D"
    return f"{value}L" if type_ == "bigint" else str(value)
