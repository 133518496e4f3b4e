"""Many small random worlds in one database: each query is prepared once and run on one world after the other."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest
from sqlglot import exp

from sparkivm.algebra.scalar import integer
from tests.fuzz.database import insert_statement, tables_of
from tests.fuzz.embedded import new_connection
from tests.fuzz.random_data import TABLES, random_world
from tests.laws.operators import DAY


class WorldSources:
    """SourceTexts of one world. The world is not a parameter, because the engine would plan again for each."""

    def new(self, table: str) -> str:
        return f"(select * from {table}_1 where world = (select world from this_world))"

    def old(self, table: str) -> str:
        return f"(select * from {table}_0 where world = (select world from this_world))"

    def moment(self, key: str, before: bool) -> exp.Expr:
        return integer(0 if before else 1).tree

    def changes(self, table: str, fields: Sequence[str]) -> str:
        return f'select {", ".join([*fields, "w"])} as "__ivm_w" from {table}_changes_1 where world = (select world from this_world)'


_MOST_PREPARED = 32


class Worlds:
    """Worlds with one batch of changes: `r_0` is old, `r_1` new, `r_changes_1` the changed rows with weights."""

    def __init__(self, seed: int, count: int) -> None:
        self.seed = seed
        rng = random.Random(seed)
        self.worlds = [random_world(rng, batches=1) for _ in range(count)]
        self._connection = new_connection()
        self._connection.execute("create table this_world as select 0 as world")
        for name, columns, _ in tables_of(self.worlds[0]):
            self._connection.execute(f"create table {name} ({columns}, world int)")
        for number, world in enumerate(self.worlds):
            filled = [
                insert_statement(name, [(*row, number) for row in rows]) for name, _, rows in tables_of(world)
            ]
            self._connection.execute(";".join(filter(None, filled)))
        self._prepared: dict[str, str] = {}  # name by text
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self.worlds)

    def changed(self, number: int) -> frozenset[str]:
        """The day and the one table that changed, or all three: this keeps the number of prepared queries small."""
        changed = [table for table, change in self.worlds[number].batches[0].items() if change]
        return frozenset(changed if len(changed) == 1 else TABLES) | {DAY}

    def violations(self, number: int, sql: str) -> list[tuple[object, ...]]:
        """The rows that a violation query finds in a world."""
        statement = self._prepare(sql)
        self._connection.execute(f"update this_world set world = {number}")
        return self._connection.execute(f"execute {statement}").fetchall()

    def anywhere(self, sql: str) -> bool:
        """Whether it finds a violation in any world."""
        return any(self.violations(number, sql) for number in range(len(self)))

    def expect_nothing(self, number: int, sql: str, law: str) -> None:
        """Fail with a reproducer if it finds a violation."""
        found = self.violations(number, sql)
        if found:
            world = self.worlds[number]
            pytest.fail(
                f"{law}\nseed {self.seed}, world {number}\nrows    {dict(world.rows)}\n"
                f"changes {dict(world.batches[0])}\nfound   {found}\nby\n{sql}"
            )

    def _prepare(self, sql: str) -> str:
        """Prepare each query once, because planning takes most of the time. A plan takes a megabyte."""
        name = self._prepared.get(sql)
        if name is None:
            if len(self._prepared) == _MOST_PREPARED:
                first = next(iter(self._prepared))
                self._connection.execute(f"deallocate {self._prepared.pop(first)}")
            name = self._prepared[sql] = f"p{next(self._numbers)}"
            self._connection.execute(f"prepare {name} as {sql}")
        return name
