"""Spark functions that sqlglot prints wrongly for DuckDB, or that have another type there."""

from __future__ import annotations

import sqlglot
from sqlglot import exp

_UNITS = {"MM": "MONTH", "MON": "MONTH", "YY": "YEAR", "YYYY": "YEAR"}  # as TRUNC names them
_DEFAULT_FORMAT = sqlglot.parse_one("unix_timestamp(at)", dialect="spark").args.get("format")
_NUMBERS = (exp.Add, exp.Sub, exp.Mul, exp.StrToUnix)


def use_duckdb_terms(tree: exp.Expression) -> None:
    """Replace a Spark query's calls by those that DuckDB has. The tree's root stays."""
    for node in reversed(list(tree.walk())):  # arguments before their calls
        if (call := _in_duckdb(node)) is not None:
            node.replace(call)


def _in_duckdb(node: exp.Expression) -> exp.Expression | None:
    match node:
        case exp.ArrayUniqueAgg():
            values = node.this.expressions[0] if isinstance(node.this, exp.Distinct) else node.this
            # Sorted, since DuckDB's order may differ from run to run.
            return exp.func("list_sort", exp.ArrayUniqueAgg(this=values.copy()))
        case exp.StrToUnix() if node.args.get("format") in (None, _DEFAULT_FORMAT):
            moment = exp.cast(node.this.copy(), "timestamp_ntz", dialect="spark")
            return exp.cast(exp.func("epoch", moment), "bigint")
        case exp.Cast() if node.is_type("timestamp", "timestamptz", "timestampltz") and _is_number(node.this):
            return exp.Anonymous(this="to_timestamp", expressions=[node.this.copy()])
        case exp.AddMonths() | exp.TsOrDsAdd():
            return exp.cast(node.copy(), "date")
        case exp.DateTrunc() if node.unit.name.upper() in _UNITS:
            return exp.DateTrunc(
                this=node.this.copy(), unit=exp.Literal.string(_UNITS[node.unit.name.upper()])
            )
    return None


def _is_number(node: exp.Expression) -> bool:
    inner = node.unnest()
    return isinstance(inner, _NUMBERS) or (isinstance(inner, exp.Cast) and inner.is_type("bigint", "int"))
