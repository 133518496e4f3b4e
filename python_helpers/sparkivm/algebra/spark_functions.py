"""Functions of Spark whose calls are parsed and printed word for word.

The parser would turn most of them into others: NVL into COALESCE, DATE_SUB into the sum of a negative. The
meaning may be the same, but Spark's plan differs, so the gate would refuse it.
"""

from __future__ import annotations

# Deterministic, one value per row, and dependent only on arguments and the settings in the frontier.
SCALAR_FUNCTIONS = frozenset(
    """
    acosh add_months aes_decrypt aggregate array_append array_compact array_distinct array_except
    array_insert array_intersect array_join array_max array_min array_position array_prepend
    array_remove array_repeat array_size array_sort array_union arrays_overlap arrays_zip asinh
    atanh base64 bin bit_count bit_get bit_length bitmap_bit_position bitmap_bucket_number
    bitmap_count bround btrim cardinality ceiling char char_length character_length chr concat
    contains conv convert_timezone cos cosh cot crc32 csc date_add date_diff date_format
    date_from_unix_date date_part date_sub date_trunc datediff datepart dayname decode degrees e
    element_at elt encode endswith equal_null expm1 factorial field filter find_in_set flatten
    forall format_number format_string from_csv from_json from_unixtime from_utc_timestamp from_xml
    get get_json_object getbit hash hll_sketch_estimate hll_union hypot ifnull instr is_valid_utf8
    is_variant_null isnan isnotnull isnull json_array_length json_object_keys lcase len log log10 log1p log2
    lpad ltrim luhn_check make_date make_dt_interval make_interval make_time make_timestamp
    make_timestamp_ltz make_timestamp_ntz make_valid_utf8 make_ym_interval map map_concat
    map_contains_key map_entries map_filter map_from_arrays map_from_entries map_keys map_values
    map_zip_with mask mod monthname named_struct nanvl negative next_day nullifzero nvl nvl2
    octet_length overlay parse_json parse_url pi pmod positive pow power printf quote radians reduce
    regexp regexp_count regexp_extract_all regexp_instr regexp_like regexp_substr rint rpad rtrim
    schema_of_csv schema_of_json sec sentences sequence sha1 shiftleft shiftright shiftrightunsigned
    signum sinh slice sort_array space split split_part startswith str_to_map substr tanh
    theta_difference theta_intersection theta_sketch_estimate theta_union time_diff time_trunc
    timestamp_micros timestamp_millis timestamp_seconds timestampadd timestampdiff to_binary to_char
    to_csv to_json to_number to_time to_timestamp to_timestamp_ltz to_timestamp_ntz
    to_unix_timestamp to_utc_timestamp to_varchar to_xml transform transform_keys transform_values
    trunc try_add try_aes_decrypt try_divide try_element_at try_make_interval try_make_timestamp
    try_make_timestamp_ltz try_make_timestamp_ntz try_mod try_multiply try_parse_json try_parse_url
    try_subtract try_to_binary try_to_date try_to_number try_to_time try_to_timestamp try_url_decode
    try_validate_utf8 try_variant_get typeof ucase unbase64 unix_date unix_micros unix_millis
    unix_seconds unix_timestamp url_decode url_encode validate_utf8 variant_get weekday width_bucket
    xpath xpath_boolean xpath_double xpath_float xpath_int xpath_long xpath_number xpath_short
    xpath_string xxhash64 zeroifnull zip_with

    bigint binary boolean date decimal double float int smallint string timestamp tinyint
    """.split()  # the last ones are casts
)

# One value per group, the same for the same bag of rows. Where Spark documents that the order of rows
# decides (collect_list, or which of several ties max_by takes), any order is right.
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

# They make rows from their arguments.
GENERATORS = frozenset("explode inline json_tuple posexplode stack".split())
# Those that may be used in FROM.
TABLE_FUNCTIONS = GENERATORS | {f"{name}_outer" for name in GENERATORS} | {"range"}

# Their value depends on which row comes first.
ARBITRARY_AGGREGATES = frozenset("any_value first first_value last last_value".split())
