"""What aggregates are over no rows: beside an outer join, in PIVOT, for an outer row without a match."""

from __future__ import annotations

NULL_OF_NOTHING = frozenset(
    """
    approx_percentile avg bit_and bit_or bit_xor bool_and bool_or corr covar_pop covar_samp every
    kurtosis listagg max max_by mean median min min_by mode percentile percentile_approx percentile_cont
    percentile_disc regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
    skewness some std stddev stddev_pop stddev_samp string_agg sum try_avg try_sum var_pop var_samp
    variance
    """.split()
)
ZERO_OF_NOTHING = frozenset("approx_count_distinct count count_if regr_count".split())
EMPTY_OF_NOTHING = frozenset("array_agg collect_list collect_set".split())
