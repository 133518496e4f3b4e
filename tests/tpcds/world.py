"""TPC-DS as Delta tables; all fact tables and several dimensions change."""

from __future__ import annotations

import random

from tests.spark.lab import Lab
from tests.tpcds.changes import CHANGING, changes
from tests.tpcds.data import TABLES, generate


class TpcdsWorld:
    """The 24 tables in a laboratory's schema."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self._lab, self._rng = lab, random.Random(seed)
        directory = generate()
        for table in TABLES:
            lab.run(
                f"create table {table} {lab.using} as "
                f"select /*+ coalesce(1) */ * from parquet.`{directory / table}.parquet`"
            )
        self._columns = {table: lab.session.table(table).columns for table in CHANGING}

    def change(self) -> None:
        """Insert, update and delete in the tables that change."""
        for table, columns in self._columns.items():
            for statement in changes(self._rng, table, columns, lambda values: f"abs(xxhash64({values}))"):
                self._lab.run(statement)
