"""Aggregates that we can only evaluate: functions of a group's rows without a rule.

stores  the value, which is computed again for every changed group
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.aggregates.aggregate_function import (
    AggregateFunction,
    HiddenColumns,
    OverNoRows,
    QueryAggregate,
)
from sparkivm.algebra.aggregates.stored_aggregate import StoredAggregate
from sparkivm.algebra.scalar import Scalar, column
from sparkivm.algebra.spark_functions import AGGREGATE_FUNCTIONS
from sparkivm.spark.data_types import SparkType

_KNOWN_OVER_NO_ROWS: dict[OverNoRows, str] = {
    "null": """
    approx_percentile bit_and bit_or corr covar_pop covar_samp kurtosis listagg max_by median
    min_by mode percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness std stddev stddev_pop
    stddev_samp string_agg try_avg try_sum var_pop var_samp variance
    """,
    "0": "approx_count_distinct regr_count",
    "array()": "array_agg collect_list collect_set",
}


@dataclass(frozen=True)
class Evaluated(QueryAggregate):
    """Any aggregate. A call's argument is the whole call."""

    def formula(self, hidden: HiddenColumns, type_: SparkType | None) -> Scalar:
        return recomputed(self, hidden)


@dataclass(frozen=True)
class Recomputed(StoredAggregate):
    """The value cannot be computed from the old one and the delta."""


def recomputed(function: AggregateFunction, hidden: HiddenColumns) -> Scalar:
    stored = Recomputed(function.name, function.sql, shown="recomputed")
    return column(hidden.add(function.name, stored))


def evaluated(over_no_rows: OverNoRows = "unknown") -> Evaluated:
    return Evaluated(
        "other", "{x}",
        over_no_rows=over_no_rows, ignores_copies=False,
        may_add_up=False, asks_type=False, follows_values=False,
    )  # fmt: skip


EVALUATED = dict.fromkeys(sorted(AGGREGATE_FUNCTIONS), evaluated()) | {
    name: evaluated(value) for value, names in _KNOWN_OVER_NO_ROWS.items() for name in names.split()
}
