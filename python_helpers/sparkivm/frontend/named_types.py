"""Types that expressions spell out."""

from __future__ import annotations

import re

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sparkivm.algebra.function_call import arguments_of, spark_name
from sparkivm.spark.data_types import SparkType, spark_type

_NESTED = re.compile(r"\s*(?:struct|array|map)\s*<", re.IGNORECASE)
_WITH_PARTS = (exp.DataType.Type.ARRAY, exp.DataType.Type.MAP, exp.DataType.Type.STRUCT)


def type_named_in(tree: exp.Expr) -> SparkType | None:
    """The type that CAST names, or FROM_JSON with a DDL schema; None for other expressions."""
    if isinstance(tree, exp.Cast):
        return _type(tree.to)
    if not isinstance(tree, exp.Func) or spark_name(tree) != "from_json":
        return None
    _, *schema = arguments_of(tree)
    if not schema or not isinstance(schema[0], exp.Literal):
        return None
    text = schema[0].name
    struct = text if _NESTED.match(text) else f"struct<{text}>"
    try:  # inside a cast the parser rejects types that it does not know
        cast = sqlglot.parse_one(f"cast(x as {struct})", dialect="spark")
    except SqlglotError:
        return None
    return _type(cast.to) if isinstance(cast, exp.Cast) else None


def _type(node: exp.DataType) -> SparkType:
    if node.this not in _WITH_PARTS:
        return spark_type(node.sql(dialect="spark").lower())
    struct = node.this == exp.DataType.Type.STRUCT
    kinds = [part.args["kind"] if struct else part for part in node.expressions]
    names = tuple(part.name for part in node.expressions) if struct else ()
    return SparkType(node.this.value.lower(), parts=tuple(map(_type, kinds)), names=names)
