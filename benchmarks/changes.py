"""Change batches on the TPC-H tables: ordinary INSERT, DELETE, UPDATE and MERGE statements on Delta."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from benchmarks.dimension_updates import DIMENSION_UPDATES, Updated, updated_keys
from benchmarks.order_keys import OrderChoice, OrderChooser, Placement, order_key
from benchmarks.statements import RowCounts, StatementChanges, Statements
from benchmarks.tpch_data import ORDERS_PER_SCALE


@dataclass(frozen=True)
class Recipe:
    """What a batch changes: shares of the orders, together with their lineitems (0.001 is 0.1 %).

    Of updated orders only the lineitems are updated. `dimension_rows` rows are updated in each of customer,
    part and supplier.
    """

    name: str
    inserted: float = 0.0
    deleted: float = 0.0
    updated: float = 0.0
    dimension_rows: int = 0


INSERTS_AND_DELETES = Recipe("0.1 % of orders inserted, 0.1 % deleted", inserted=0.001, deleted=0.001)
EVERY_TABLE = Recipe(
    "0.1 % of orders inserted, 0.1 % deleted, 0.1 % of lineitem and 20 customers, parts, suppliers updated",
    inserted=0.001,
    deleted=0.001,
    updated=0.001,
    dimension_rows=20,
)


class SourceChanges(StatementChanges):
    """Changes the tables of one schema; the n-th batch is the same for the same seed."""

    def __init__(
        self,
        spark: SparkSession,
        schema: str,
        scale: float,
        *,
        placement: Placement = "spread",
        updated: Updated = "measures",
        seed: int = 1,
    ) -> None:
        super().__init__(spark, schema)
        self._n_orders = round(ORDERS_PER_SCALE * scale)
        self._scale, self._placement, self._seed = scale, placement, seed
        self._updated: Updated = updated
        self._chooser = OrderChooser(self._n_orders, placement, seed)

    def apply(self, change: Recipe | Statements) -> RowCounts:
        """Apply the next batch: one commit for each kind of change in a table."""
        if isinstance(change, Statements):
            return super().apply(change)
        choice = self.skip(change)
        counts = RowCounts()
        for table, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            if choice.copies:
                counts += self._copy(table, key, choice.copies)
            if choice.deleted:
                counts += self._delete(table, key, choice.deleted)
        if choice.updated:
            counts += self._update_lineitems_of(choice.updated)
        if change.dimension_rows:
            counts += self._update_dimensions(change.dimension_rows)
        return counts

    def skip(self, recipe: Recipe) -> OrderChoice:
        """Choose the next batch without applying it: another process did, or the caller will."""
        self.batches += 1
        shares = (recipe.inserted, recipe.deleted, recipe.updated)
        return self._chooser.next_batch(*(round(share * self._n_orders) for share in shares))

    def update_customers(self) -> RowCounts:
        """Move every 500th customer to the next nation."""
        return self.run(f"""
            update {self.schema}.customer set c_nationkey = (c_nationkey + 1) % 25
            where c_custkey % 500 = 7
        """)

    def update_lineitems(self) -> RowCounts:
        """Mark the lineitems of one recent order in 20 as returned, at a higher discount."""
        recent = order_key(round(0.99 * self._n_orders))
        return self.run(f"""
            update {self.schema}.lineitem
            set l_returnflag = 'R', l_discount = least(l_discount + 0.01, 0.10)
            where l_orderkey > {recent} and l_orderkey % 20 = 1
        """)

    def merge_suppliers(self) -> RowCounts:
        """MERGE a delivery: every 100th supplier with a new balance, and as many new suppliers."""
        return self.run(f"""
            merge into {self.schema}.supplier as target
            using (
              select
                * except (s_suppkey, s_acctbal),
                if(s_suppkey % 100 = 1, s_suppkey, s_suppkey + 1000000000) as s_suppkey,
                s_acctbal + 100.00 as s_acctbal
              from {self.schema}.supplier where s_suppkey % 100 in (1, 2)
            ) as delivery
            on target.s_suppkey = delivery.s_suppkey
            when matched then update set *
            when not matched then insert *
        """)

    def delete_parts(self) -> RowCounts:
        """Delete every 1,000th part, different ones each time; their lineitems stay and lose their match."""
        return self.run(f"delete from {self.schema}.part where p_partkey % 1000 = {self.batches}")

    def _copy(self, table: str, key: str, copies: Iterable[tuple[int, int]]) -> RowCounts:
        copies = tuple(copies)
        pairs = ", ".join(f"({template}L, {copy}L)" for template, copy in copies)
        self.session.sql(f"""
            create or replace temporary view copies as select * from values {pairs} as pairs(template, copy)
        """)
        name = f"{self.schema}.{table}"
        columns = ", ".join("copy" if one == key else one for one in self.session.table(name).columns)
        # One file, like an ordinary small insert; the literal range lets Delta skip files.
        lowest, highest = copies[0][0], copies[-1][0]
        return self.run(f"""
            insert into {name}
            select /*+ broadcast(copies), repartition(1) */ {columns}
            from {name} join copies on {key} = template
            where {key} between {lowest} and {highest}
        """)

    def _delete(self, table: str, key: str, keys: Iterable[int]) -> RowCounts:
        # Delta's DELETE allows no subquery.
        listed = ", ".join(str(one) for one in keys)
        return self.run(f"delete from {self.schema}.{table} where {key} in ({listed})")

    def _update_lineitems_of(self, keys: Iterable[int]) -> RowCounts:
        listed = ", ".join(map(str, keys))
        return self.run(f"""
            update {self.schema}.lineitem
            set l_quantity = l_quantity % 50 + 1, l_discount = (l_discount + 0.01) % 0.11
            where l_orderkey in ({listed})
        """)

    def _update_dimensions(self, count: int) -> RowCounts:
        counts = RowCounts()
        for update in DIMENSION_UPDATES[self._updated]:
            seed = f"{self._seed}/{self.batches}"
            keys = updated_keys(update.table, count, self._scale, self._placement, seed)
            counts += self.run(update.statement(self.schema, keys))
        return counts
