"""Generated text for DuckDB, on which the algebra is tested."""

from __future__ import annotations

from sparkivm.algebra import Relation, Unweigh
from sparkivm.spark_sql.dialects import SqlDialect
from sparkivm.spark_sql.relations import select_text
from sparkivm.spark_sql.source_texts import SourceTexts

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


def duckdb_text(relation: Relation, sources: SourceTexts, weight: str | None = None) -> str:
    """The relation as one SELECT: its columns in order, then its weight as `weight` if that is given."""
    return select_text(Unweigh(relation, weight) if weight else relation, sources, DUCKDB)
