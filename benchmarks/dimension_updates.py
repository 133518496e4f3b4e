"""Which customers, parts and suppliers a batch updates, and with which values."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.order_keys import Placement
from benchmarks.tpch_data import TABLES

Updated = Literal["measures", "attributes"]


@dataclass(frozen=True)
class DimensionUpdate:
    """One table's UPDATE."""

    table: str
    key: str
    assignments: str

    def statement(self, schema: str, keys: Sequence[int]) -> str:
        """The UPDATE of the rows with these keys."""
        listed = ", ".join(map(str, keys))
        return f"update {schema}.{self.table} set {self.assignments} where {self.key} in ({listed})"


# measures    balances and prices, which change every day; few queries read them
# attributes  columns by which most queries filter, join and group: each changed row matches facts of all
#             times, so refreshing a query reads all facts
DIMENSION_UPDATES: dict[Updated, tuple[DimensionUpdate, ...]] = {
    "measures": (
        DimensionUpdate("customer", "c_custkey", "c_acctbal = c_acctbal + 100"),
        DimensionUpdate("part", "p_partkey", "p_retailprice = p_retailprice + 1"),
        DimensionUpdate("supplier", "s_suppkey", "s_acctbal = s_acctbal + 100"),
    ),
    "attributes": (
        DimensionUpdate(
            "customer", "c_custkey", "c_nationkey = (c_nationkey + 1) % 25, c_acctbal = c_acctbal + 100"
        ),
        DimensionUpdate(
            "part",
            "p_partkey",
            "p_size = p_size % 50 + 1, p_brand = 'Brand#23', p_container = 'MED BOX', "
            "p_type = if(p_type like 'PROMO%', 'ECONOMY ANODIZED STEEL', 'PROMO BURNISHED BRASS')",
        ),
        DimensionUpdate(
            "supplier", "s_suppkey", "s_nationkey = (s_nationkey + 1) % 25, s_acctbal = s_acctbal + 100"
        ),
    ),
}


def updated_keys(table: str, count: int, scale: float, placement: Placement, seed: str) -> list[int]:
    """Keys of `count` rows: random ones, or the highest; these tables number their rows from 1."""
    (n_rows,) = (one.rows(scale) for one in TABLES if one.name == table)
    count = min(count, n_rows)
    if placement == "recent":
        return list(range(n_rows - count + 1, n_rows + 1))
    return sorted(random.Random(f"{seed}/{table}").sample(range(1, n_rows + 1), count))
