"""SUM: for exact numbers it adds up; for floating point, whose sum depends on the order, it is recomputed.

stores  the count of values, and their sum in a type that loses no digit

A sum that no longer fits its type is an error: we could not subtract what was added to it. So is a sum close
to the limit: it is added up from several parts, which must not overflow in between.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.aggregates.aggregate_function import HiddenColumns, QueryAggregate
from sparkivm.algebra.aggregates.count import ROWS, add_count
from sparkivm.algebra.aggregates.recomputed import recomputed
from sparkivm.algebra.aggregates.stored_aggregate import Additive
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.sql_expression import expression
from sparkivm.spark.data_types import BIGINT, MOST_DIGITS, SparkType, decimal_type

OVERFLOW = "a sum overflows its type"  # raised by a statement that finds an overflow
_DIGITS_TO_SPARE = 2  # so a hundred sums can be added up
_DIGITS_OF_A_SUM = 10  # Spark adds them to the argument's precision
_DIGITS_ALWAYS_EXACT = 27  # weight (10 digits) times argument fits into 38 digits
_SCALE_KEPT = 6  # a product that does not fit keeps this many fraction digits


@dataclass(frozen=True)
class _Sum(QueryAggregate):
    def formula(self, hidden: HiddenColumns, type_: SparkType | None) -> Scalar:
        sum_type = exact_sum_type(type_)
        if sum_type is None:
            return recomputed(self, hidden)
        count, total = add_exact_sum(hidden, sum_type)
        return expression("case when n > 0 then s end", n=count, s=total)


def add_exact_sum(hidden: HiddenColumns, type_: SparkType) -> tuple[str, str]:
    """The columns for an argument's count and sum."""
    count = add_count(hidden)
    return count, hidden.add("sum", exact_sum(type_, count))


def exact_sum(type_: SparkType, counted_by: str) -> Additive:
    """SUM in a type in which adding and subtracting are exact."""
    whole = type_ == BIGINT  # a decimal times a weight has more digits than can be added up without loss
    cast = f"cast({{total}} as {type_})"
    checked, bounded = "s", "{total}"
    if type_.decimal is not None and type_.decimal[0] == MOST_DIGITS:  # other types have ten spare digits
        precision, scale = type_.decimal
        limit = f"cast('1e{precision - scale - _DIGITS_TO_SPARE}' as double)"
        checked, bounded = (
            f"case when {lost}abs(cast({s} as double)) >= {limit} then raise_error('{OVERFLOW}') else {s} end"
            for s, lost in (("s", "(s is null and n <> 0) or "), ("{total}", ""))
        )
    return Additive(
        "sum",
        "sum({x})",
        shown=f"sum {type_}",
        adder=ROWS.adder,
        plus=ROWS.plus,
        minus=ROWS.minus,
        contributed=f"cast({{weight}} as {'bigint' if whole else 'decimal(10,0)'}) * {{x}}",
        change="{total}" if whole else cast,
        weighed="{total}" if whole else cast,
        folded=cast,
        checked=checked,
        bounded=bounded,
        presented=f"case when n <> 0 then cast(s as {type_}) end",
        counted_by=counted_by,
    )


def exact_sum_type(argument: SparkType | None) -> SparkType | None:
    """The type of SUM if adding a delta to it is exact, else None.

    Integers stay in range or wrap around, both exact. Decimals: the product with a weight and the sum must
    keep all digits. Floating-point addition is not associative, so such sums are recomputed.
    """
    if argument is not None and argument.whole:
        return BIGINT
    if argument is None or argument.decimal is None:
        return None
    precision, scale = argument.decimal
    if precision > _DIGITS_ALWAYS_EXACT and scale > _SCALE_KEPT:
        return None
    return decimal_type(min(precision + _DIGITS_OF_A_SUM, MOST_DIGITS), scale)


SUM = _Sum(
    "sum", "sum({x})",
    over_no_rows="null", ignores_copies=False, may_add_up=True, asks_type=True, follows_values=True,
)  # fmt: skip
