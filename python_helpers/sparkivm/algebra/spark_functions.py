"""Functions of Spark whose calls are read and printed word for word.

The parser knows most of them as something else: NVL as COALESCE, DATE_SUB as the sum of a negative. That may
mean the same, but Spark's plan differs, and so the gate would refuse it.
"""

from __future__ import annotations

# Deterministic, one value per row, and independent of anything but arguments and the settings of a frontier.
SCALAR_FUNCTIONS = frozenset(
    """
    acosh add_months aggregate array_append array_compact array_distinct array_except array_insert
    array_intersect array_join array_max array_min array_position array_prepend array_remove
    array_repeat array_size array_sort array_union arrays_overlap arrays_zip asinh atanh base64 bin
    bit_count bit_get bit_length bround btrim cardinality ceiling char char_length character_length chr
    concat contains conv convert_timezone cos cosh cot crc32 csc date_add date_diff date_format
    date_from_unix_date date_part date_sub date_trunc datediff dayname decode degrees e element_at elt
    encode endswith equal_null expm1 factorial field filter find_in_set flatten forall format_number
    format_string from_csv from_json from_unixtime from_utc_timestamp get get_json_object getbit hash
    hypot ifnull instr is_valid_utf8 isnan isnotnull isnull json_array_length json_object_keys lcase
    log10 log1p log2 lpad ltrim luhn_check make_date make_timestamp map map_concat map_contains_key
    map_entries map_filter map_from_arrays map_from_entries map_keys map_values map_zip_with mask mod
    monthname named_struct nanvl negative next_day nullifzero nvl nvl2 octet_length overlay parse_url pi
    pmod positive pow power printf radians reduce regexp_count regexp_extract_all regexp_instr
    regexp_like regexp_substr rint rpad rtrim sec sentences sequence sha1 shiftleft shiftright
    shiftrightunsigned signum sinh slice sort_array space split split_part startswith str_to_map substr
    tanh timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff to_binary
    to_char to_csv to_json to_number to_timestamp to_unix_timestamp to_utc_timestamp to_varchar
    transform transform_keys transform_values trunc try_add try_divide try_element_at try_multiply
    try_subtract try_to_date try_to_timestamp typeof ucase unbase64 unix_date unix_micros unix_millis
    unix_seconds unix_timestamp url_decode url_encode validate_utf8 weekday width_bucket xxhash64
    zeroifnull zip_with
    """.split()
)

# One value for the rows of a group, the same one for the same bag of rows. Where Spark documents that the
# order of the rows decides (collect_list, or which of several ties max_by takes), any order is right.
AGGREGATE_FUNCTIONS = frozenset(
    """
    approx_count_distinct approx_percentile array_agg bit_and bit_or bit_xor bitmap_construct_agg
    bitmap_or_agg bool_and bool_or collect_list collect_set corr count_if count_min_sketch covar_pop
    covar_samp every histogram_numeric hll_sketch_agg hll_union_agg kurtosis listagg max_by mean median
    min_by mode percentile percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy
    regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy skewness some std stddev
    stddev_pop stddev_samp string_agg try_avg try_sum var_pop var_samp variance
    """.split()
)

# They make rows of their arguments.
GENERATORS = frozenset("explode inline json_tuple posexplode stack".split())

# Their value depends on which row comes first.
ARBITRARY_AGGREGATES = frozenset("any_value first first_value last last_value".split())
