"""Generated text for DuckDB, on which the algebra is tested."""

from __future__ import annotations

from sparkivm.spark_sql.dialects import SqlDialect

DUCKDB = SqlDialect(
    scalars="duckdb",
    quote='"',
    null_safe_equal="is not distinct from",
    semi_join="semi join",
    anti_join="anti join",
    copies=", unnest(range(cast({times} as bigint)))",
    generate=", lateral (select {call}) as {alias}({names})",
    generate_outer=" left join lateral (select {call}) as {alias}({names}) on true",
    hints=False,
)
