"""Equivalent changes: in one batch or several, forth and back, or nothing at all."""

from __future__ import annotations

import random

from sparkivm.algebra import Scan
from tests.fuzz.case import Case
from tests.fuzz.database import Database
from tests.fuzz.metamorphic.history import differs, history
from tests.fuzz.random_data import COLUMNS, TABLES, Change, Row, World, random_value
from tests.fuzz.view import View


def batches_at_once(database: Database, case: Case) -> str | None:
    """M2: several batches in one refresh give the same result as one by one."""
    everything = {
        table: Change(
            tuple(row for batch in case.world.batches for row in batch.get(table, Change()).deleted),
            tuple(row for batch in case.world.batches for row in batch.get(table, Change()).inserted),
        )
        for table in TABLES
    }
    one_by_one = history(database, case.sql, case.world, case.seed)[-1]
    at_once = history(database, case.sql, World(case.world.rows, (everything,)), case.seed)[-1]
    return differs(at_once, one_by_one, "of all batches at once")


def there_and_back(database: Database, case: Case) -> str | None:
    """M3: changes followed by their opposites restore the visible and the hidden rows."""
    there = case.world.batches[0]
    back = {table: Change(change.inserted, change.deleted) for table, change in there.items()}
    first, _, last = history(database, case.sql, World(case.world.rows, (there, back)), case.seed)
    return differs(last, first, "after changes and their opposites")


def nothing_to_see(database: Database, case: Case) -> str | None:
    """M4: the delta is empty if only columns that the query does not read change, or nothing changes."""
    rng = random.Random(case.seed)
    database.load(case.world)
    view = View(database, case.sql)
    read: dict[str, set[str]] = {table: set() for table in TABLES}
    for node in view.plan.core.walk():
        if isinstance(node, Scan):
            read[node.table] |= {source for _, source in node.fields}
    changes = {
        table: _of_columns(rng, case.world.rows[table], [name not in read[table] for name, _ in COLUMNS])
        for table in TABLES
    }
    database.load(World(case.world.rows, (changes,)))
    view.build()
    rows = view.delta(1, frozenset(TABLES))
    return f"view has a delta without changes: {rows}" if rows else None


def _of_columns(rng: random.Random, rows: list[Row], free: list[bool]) -> Change:
    """Updates of some rows, only in columns that are free to change."""
    old = [row for row in rows if rng.random() < 0.7]
    new = [
        tuple(
            random_value(rng, type_) if may and rng.random() < 0.7 else value
            for value, (_, type_), may in zip(row, COLUMNS, free, strict=True)
        )
        for row in old
    ]
    return Change(tuple(old), tuple(new))
