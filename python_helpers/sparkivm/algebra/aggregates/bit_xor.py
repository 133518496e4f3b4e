"""BIT_XOR of integers adds up: because x ^ x = 0, adding a value a second time removes it.

stores  the count of values, and their BIT_XOR
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.aggregates.aggregate_function import AggregateFunction, HiddenColumns, QueryAggregate
from sparkivm.algebra.aggregates.count import add_count
from sparkivm.algebra.aggregates.recomputed import recomputed
from sparkivm.algebra.aggregates.stored_aggregate import Additive
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.sql_expression import expression
from sparkivm.spark.data_types import SparkType


@dataclass(frozen=True)
class _BitXor(QueryAggregate):
    def formula(self, hidden: HiddenColumns, type_: SparkType | None) -> Scalar:
        if type_ is None or not type_.whole:
            return recomputed(self, hidden)
        count = add_count(hidden)
        bits = hidden.add("bit_xor", exact_bits(type_, count))
        return expression("case when n > 0 then x end", n=count, x=bits)


def exact_bits(type_: SparkType, counted_by: str) -> Additive:
    either = f"cast({{one}} ^ {{other}} as {type_})"
    return Additive(
        "bit_xor",
        "bit_xor({x})",
        shown=f"bit_xor {type_}",
        adder=AggregateFunction("bit_xor", "bit_xor({x})"),
        plus=either,
        minus=either,
        # Values that cancel each other make 0, not NULL.
        contributed=f"case when ({{weight}}) % 2 <> 0 then {{x}} else cast({{x}} - {{x}} as {type_}) end",
        change="{total}",
        weighed="{total}",
        folded="{total}",
        checked="s",
        bounded="{total}",
        presented="case when n <> 0 then s end",
        counted_by=counted_by,
    )


BIT_XOR = _BitXor(
    "bit_xor", "bit_xor({x})",
    over_no_rows="null", ignores_copies=False, may_add_up=True, asks_type=True, follows_values=True,
)  # fmt: skip
