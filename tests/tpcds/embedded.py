"""TPC-DS in the embedded engine: all versions of the tables, and the changes between them."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from math import isclose
from typing import Any

from sparkivm.engine import Field
from tests.fuzz.embedded import Catalog, Embedded, new_connection, spark_type
from tests.fuzz.view import View
from tests.tpcds.changes import CHANGING, changes
from tests.tpcds.data import TABLES, generate

_NUMBERS = (int, float, Decimal)


class TpcdsView(View):
    """A view built from its plan, because its deltas remove rows by exact value, to the last digit of an AVG."""

    def __init__(self, database: TpcdsDatabase, sql: str) -> None:
        super().__init__(database, sql)
        self.plan = replace(self.plan, written=self.plan.core)


class TpcdsDatabase(Embedded):
    """Version 0 is the generated data; `change` adds a version."""

    def __init__(self, seed: int) -> None:
        super().__init__(new_connection(), Catalog({}))
        self.connection.execute("pragma enable_optimizer")
        self.connection.execute("create macro pmod(a, b) as ((a % b) + b) % b")
        self._rng, self.version = random.Random(seed), 0
        directory, tables = generate(), {}
        for table in TABLES:
            self.connection.execute(f"create table {table}_0 as from '{directory / table}.parquet'")
            described = self.connection.execute(f"describe {table}_0").fetchall()
            tables[table] = tuple(Field(name, spark_type(type_)) for name, type_, *_ in described)
        self.catalog = Catalog(tables)

    def alike(self, have: tuple[Any, ...], want: tuple[Any, ...]) -> bool:
        """Here AVG of decimals is DOUBLE, and in a plan Spark's rounded decimal; everything else is exact."""
        return len(have) == len(want) and all(
            one == other
            or (
                float in (type(one), type(other))
                and isinstance(one, _NUMBERS)
                and isinstance(other, _NUMBERS)
                and isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
            )
            for one, other in zip(have, want, strict=True)
        )

    def change(self) -> frozenset[str]:
        """Change all fact tables and several dimensions.

        Returns: the changed tables.
        """
        self.version += 1
        now, before = f"_{self.version}", f"_{self.version - 1}"
        for table, fields in self.catalog.tables.items():
            if table not in CHANGING:
                self.execute(f"create view {table}{now} as from {table}{before}")
                continue
            names = [field.name for field in fields]
            self.execute(f"create table {table} as from {table}{before}")
            for statement in changes(self._rng, table, names, lambda values: f"hash({values})"):
                self.execute(statement)
            self.execute(f"alter table {table} rename to {table}{now}")
            self.execute(
                f"create table {table}_changes{now} as select *, 1 as w from "
                f"(from {table}{now} except all from {table}{before}) union all "
                f"select *, -1 from (from {table}{before} except all from {table}{now})"
            )
        return frozenset(CHANGING)
