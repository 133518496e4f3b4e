"""AVG: sum divided by count, both of which add up, where that equals Spark's result to the last digit.

stores  what SUM stores
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.aggregates.aggregate_function import HiddenColumns, QueryAggregate
from sparkivm.algebra.aggregates.recomputed import recomputed
from sparkivm.algebra.aggregates.sum import add_exact_sum, exact_sum_type
from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.sql_expression import expression
from sparkivm.spark.data_types import BIGINT, MOST_DIGITS, SparkType, decimal_type

_SCALE_DIVIDED = 10  # up to this scale a quotient has nine digits more than AVG


@dataclass(frozen=True)
class _Average(QueryAggregate):
    def formula(self, hidden: HiddenColumns, type_: SparkType | None) -> Scalar:
        sum_type = exact_sum_type(type_)
        if type_ is None or sum_type is None or not _is_quotient(type_):
            return recomputed(self, hidden)
        count, total = add_exact_sum(hidden, sum_type)
        return _quotient(total, count, type_)


def _is_quotient(type_: SparkType) -> bool:
    """Whether sum and count give AVG to the last digit."""
    # Spark averages BIGINT in DOUBLE, so the last digits depend on the order of the rows.
    if type_.decimal is None:
        return type_ != BIGINT
    precision, scale = type_.decimal
    # If Spark must not lose precision, a quotient has more digits after the point, and fewer before it.
    return precision + 7 <= MOST_DIGITS and scale <= _SCALE_DIVIDED


def _quotient(total: str, count: str, type_: SparkType) -> Scalar:
    """AVG as Spark computes it: integers in DOUBLE, decimals with four more digits on both sides.

    As SQL types, the quotient of two decimals would be rounded twice or have too few digits. So we divide the
    whole part, which is exact, and the rest (same sign, absolute value below one) separately.
    """
    if type_.decimal is None:
        return expression("case when n > 0 then cast(s as double) / cast(n as double) end", n=count, s=total)
    precision, scale = type_.decimal
    result = decimal_type(min(precision + 4, MOST_DIGITS), min(scale + 4, MOST_DIGITS))
    n = "cast(n as decimal(15,0))"
    whole = f"cast((s - s % {n}) / {n} as decimal({max(precision - scale, 1)},0))"
    rest = f"cast((s % {n}) / {n} as decimal({scale + 5},{scale + 4}))"
    return expression(f"case when n > 0 then cast({whole} + {rest} as {result}) end", n=count, s=total)


AVG = _Average(
    "avg", "avg({x})",
    over_no_rows="null", ignores_copies=False, may_add_up=True, asks_type=True, follows_values=True,
)  # fmt: skip
