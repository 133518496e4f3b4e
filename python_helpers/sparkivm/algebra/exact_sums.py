"""Sums that no longer fit into their type are an error: what was added to them could not be taken away.

So are those that come close to it: a sum is added up from some of them, and must not overflow in between.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.sql_expression import expression
from sparkivm.spark.data_types import MOST_DIGITS, SparkType

OVERFLOW = "a sum overflows its type"  # the error of a statement that finds one
_DIGITS_TO_SPARE = 2  # a hundred sums can be added up


@dataclass(frozen=True)
class Sum:
    """A call SUM whose values can be added up and taken away to the last digit.

    type        of the sum
    counted_by  the call that counts the values in it
    """

    type: SparkType
    counted_by: str

    @property
    def may_overflow(self) -> bool:
        """SUM has ten digits more than its argument, except where there are no more."""
        return self.type.decimal is not None and self.type.decimal[0] == MOST_DIGITS

    def checked(self, total: str, count: str) -> Scalar:
        """A column `total`, NULL if it is the sum of no values, by the column that counts them."""
        if not self.may_overflow:
            return expression("s", s=total)
        text = (
            f"case when (s is null and n <> 0) or {self._is_large} then raise_error('{OVERFLOW}') else s end"
        )
        return expression(text, s=total, n=count)

    def bounded(self, total: str) -> str:
        """The SQL of a total of sums that were checked, checked again."""
        if not self.may_overflow:
            return total
        large = expression(self._is_large, s=expression(total)).sql("spark")
        return f"case when {large} then raise_error('{OVERFLOW}') else {total} end"

    @property
    def _is_large(self) -> str:
        assert self.type.decimal is not None, "other sums have digits to spare"
        precision, scale = self.type.decimal
        return f"abs(cast(s as double)) >= cast('1e{precision - scale - _DIGITS_TO_SPARE}' as double)"
