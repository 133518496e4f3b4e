"""TPC-H as Delta tables, small enough to recompute 22 queries often; every table changes in every way."""

from __future__ import annotations

import random

from benchmarks.tpch_data import TABLES, generate
from tests.spark.lab import Lab

SCALE = 0.01

# What an update sets: keys move to other rows, values become NULL, some keys too.
_UPDATES = {
    "region": ("r_comment = null", "r_name = case r_name when 'ASIA' then 'EUROPE' else 'ASIA' end"),
    "nation": (
        "n_regionkey = pmod(n_regionkey + 1, 5)",
        "n_name = concat(n_name, 'X')",
        "n_regionkey = null",
    ),
    "supplier": (
        "s_nationkey = pmod(s_nationkey + 7, 25)",
        "s_nationkey = null",
        "s_comment = 'Customer some Complaints'",
        "s_suppkey = pmod(s_suppkey + 3, 100) + 1",
        "s_acctbal = -s_acctbal",
    ),
    "customer": (
        "c_mktsegment = 'BUILDING'",
        "c_nationkey = pmod(c_nationkey + 5, 25)",
        "c_acctbal = null",
        "c_phone = concat('13', substr(c_phone, 3))",
        "c_custkey = pmod(c_custkey * 7, 1500) + 1",
    ),
    "part": (
        "p_brand = 'Brand#23', p_container = 'MED BOX'",
        "p_size = 15, p_type = 'LARGE POLISHED BRASS'",
        "p_name = concat('forest green ', p_name)",
        "p_type = null",
        "p_partkey = pmod(p_partkey + 11, 2000) + 1",
    ),
    "partsupp": (
        "ps_supplycost = ps_supplycost + 1",
        "ps_availqty = null",
        "ps_suppkey = pmod(ps_suppkey + 1, 100) + 1",
        "ps_suppkey = null",
        "ps_partkey = pmod(ps_partkey + 1, 2000) + 1",
    ),
    "orders": (
        "o_custkey = pmod(o_custkey + 13, 1500) + 1",
        "o_orderdate = date_add(o_orderdate, 30)",
        "o_custkey = null",
        "o_orderstatus = 'F'",
        "o_orderkey = o_orderkey + 1",
        "o_comment = null",
    ),
    "lineitem": (
        "l_quantity = l_quantity + 10",
        "l_shipdate = date_add(l_shipdate, 60), l_receiptdate = date_add(l_receiptdate, 61)",
        "l_orderkey = l_orderkey + 1",
        "l_partkey = pmod(l_partkey + 17, 2000) + 1",
        "l_suppkey = null",
        "l_commitdate = null",
        "l_discount = 0.06",
    ),
}


class TpchWorld:
    """The eight tables in a laboratory's schema."""

    def __init__(self, lab: Lab, seed: int) -> None:
        self._lab, self._rng = lab, random.Random(seed)
        self._columns: dict[str, list[str]] = {}
        parquet = generate(SCALE)
        for table in TABLES:
            path = parquet / table.name
            lab.run(
                f"create table {table.name} {lab.using} as select /*+ coalesce(1) */ * from parquet.`{path}`"
            )
            self._columns[table.name] = lab.session.table(table.name).columns

    def change(self) -> None:
        """Insert, update and delete in all eight tables."""
        for table in TABLES:
            ways = [self._insert, self._update, self._update, self._delete]
            self._rng.shuffle(ways)
            for way in ways[: self._rng.randint(2, 4)]:
                way(table.name)

    def _some(self, table: str) -> str:
        """A few rows, chosen by a hash that is independent of the keys."""
        share = {"region": 5, "nation": 12, "supplier": 20, "customer": 60, "part": 60}.get(table, 120)
        columns = ", ".join(self._columns[table])
        return f"pmod(xxhash64({columns}, {self._rng.randrange(10**6)}), {share}) = 0"

    def _insert(self, table: str) -> None:
        some = self._some(table)
        self._lab.run(f"insert into {table} select * from {table} where {some}")
        self._lab.run(f"update {table} set {self._rng.choice(_UPDATES[table])} where {some}")

    def _update(self, table: str) -> None:
        self._lab.run(f"update {table} set {self._rng.choice(_UPDATES[table])} where {self._some(table)}")

    def _delete(self, table: str) -> None:
        self._lab.run(f"delete from {table} where {self._some(table)}")
