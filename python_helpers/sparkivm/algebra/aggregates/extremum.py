"""MIN and MAX: taken from the delta, kept, or read again if the group may have lost its extremum.

stores  the count of values, and the extremum
law     with I, D the values inserted and deleted (net), c the stored minimum, n₁ > 0 non-NULL values left:
        no c, or min I ≤ c → min I;   else min D ≤ c → read the group again;   else c
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sparkivm.algebra.aggregates.aggregate_function import HiddenColumns, QueryAggregate
from sparkivm.algebra.aggregates.count import add_count
from sparkivm.algebra.aggregates.stored_aggregate import StoredAggregate
from sparkivm.algebra.scalar import Scalar, column
from sparkivm.algebra.sql_expression import expression
from sparkivm.spark.data_types import SparkType

CAME, WENT = "case when w > 0 then x end", "case when w < 0 then x end"  # of a change x with weight w


@dataclass(frozen=True, kw_only=True)
class _Extremum(QueryAggregate):
    """at_least  the operator between two values of which the first is at least as good: <= for MIN"""

    at_least: str

    def formula(self, hidden: HiddenColumns, type_: SparkType | None) -> Scalar:
        count = add_count(hidden)
        stored = StoredExtremum(
            self.name, self.sql, shown=self.name, at_least=self.at_least, counted_by=count
        )
        return column(hidden.add(self.name, stored))


@dataclass(frozen=True, kw_only=True)
class StoredExtremum(StoredAggregate):
    """counted_by  the column that counts the values"""

    at_least: str
    counted_by: str

    def kept(self, old: str, came: str) -> Scalar:
        """The extremum of a group that is not read again."""
        text = f"case when n = 0 then null when c is null then i when i {self.at_least} c then i else c end"
        return expression(text, n=self.counted_by, c=old, i=came)

    def is_lost(self, old: str, came: str, went: str) -> Scalar:
        """Whether a group must be read again."""
        beaten, gone = (f"coalesce({value} {self.at_least} c, false)" for value in ("i", "g"))
        text = f"(n > 0 and c is not null and not {beaten} and {gone})"
        return expression(text, n=self.counted_by, c=old, i=came, g=went)


MIN = _Extremum(
    "min", "min({x})", at_least="<=",
    over_no_rows="null", ignores_copies=True, may_add_up=False, asks_type=False, follows_values=True,
)  # fmt: skip
MAX = replace(MIN, name="max", sql="max({x})", at_least=">=")
