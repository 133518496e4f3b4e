"""COUNT of rows, and of non-NULL values.

stores  the count itself; the row count is the first hidden column of every group
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkivm.algebra.aggregates.aggregate_function import AggregateFunction, HiddenColumns, QueryAggregate
from sparkivm.algebra.aggregates.stored_aggregate import Additive
from sparkivm.algebra.scalar import Scalar, column
from sparkivm.spark.data_types import SparkType

ROWS = Additive(
    "count_rows",
    "count(*)",
    shown="count",
    adder=AggregateFunction("sum", "sum({x})"),
    plus="{one} + {other}",
    minus="{one} - {other}",
    contributed="{weight}",
    change="{total}",
    weighed="coalesce({total}, 0)",
    folded="{total}",
    checked="s",
    bounded="{total}",
    presented="s",
    counted_by="",
)
VALUES = replace(
    ROWS,
    name="count",
    sql="count({x})",
    contributed="case when {x} is not null then {weight} else 0 end",
)


@dataclass(frozen=True, kw_only=True)
class _Count(QueryAggregate):
    stored: Additive

    def formula(self, hidden: HiddenColumns, type_: SparkType | None) -> Scalar:
        return column(hidden.add("n", self.stored))


def add_count(hidden: HiddenColumns) -> str:
    """The column that counts the values of an argument."""
    return hidden.add("n", VALUES)


COUNT = _Count(
    "count", "count({x})", stored=VALUES,
    over_no_rows="0", ignores_copies=False, may_add_up=True, asks_type=False, follows_values=False,
)  # fmt: skip
COUNT_ROWS = replace(COUNT, name="count_rows", sql="count(*)", stored=ROWS)
