"""Sums that no longer fit into their type are an error: what was added to them could not be taken away."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.scalar import Scalar
from sparkivm.algebra.sql_expression import expression

OVERFLOW = "a sum overflows its type"  # the error of a statement that finds one
_WIDEST = "decimal(38,"


@dataclass(frozen=True)
class Sum:
    """A call SUM whose values can be added up and taken away to the last digit.

    type        Spark's, of the sum
    counted_by  the call that counts the values in it
    """

    type: str
    counted_by: str

    @property
    def may_overflow(self) -> bool:
        """SUM has ten digits more than its argument, except where there are no more."""
        return self.type.startswith(_WIDEST)

    def checked(self, total: str, count: str) -> Scalar:
        """A column `total`, NULL if it is the sum of no values, by the column that counts them."""
        if not self.may_overflow:
            return expression("s", s=total)
        text = f"coalesce(s, case when n <> 0 then raise_error('{OVERFLOW}') end)"
        return expression(text, s=total, n=count)
