"""The table of aggregates."""

from __future__ import annotations

from collections.abc import Mapping

from sparkivm.algebra.aggregates.aggregate_function import QueryAggregate
from sparkivm.algebra.aggregates.average import AVG
from sparkivm.algebra.aggregates.bit_xor import BIT_XOR
from sparkivm.algebra.aggregates.count import COUNT
from sparkivm.algebra.aggregates.extremum import MAX, MIN
from sparkivm.algebra.aggregates.recomputed import EVALUATED
from sparkivm.algebra.aggregates.sum import SUM

# FALSE is less than TRUE.
OF_BOOLEANS: Mapping[str, QueryAggregate] = {"bool_and": MIN, "every": MIN, "bool_or": MAX, "some": MAX}
# By Spark's names. COUNT_IF becomes COUNT of an argument that is NULL where the condition is not TRUE.
FUNCTIONS: Mapping[str, QueryAggregate] = {
    **EVALUATED,
    "count": COUNT,
    "count_if": COUNT,
    "sum": SUM,
    "avg": AVG,
    "mean": AVG,
    "bit_xor": BIT_XOR,
    "min": MIN,
    "max": MAX,
    **OF_BOOLEANS,
}
