"""The texts of Spark's types, read."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import ParseError

from sparkivm.algebra.function_call import arguments_of, spark_name

_NESTED = re.compile(r"\s*(?:struct|array|map)\s*<", re.IGNORECASE)


def type_of_field(text: str | None, fields: Iterable[str] = ()) -> exp.DataType | None:
    """The type of a text, or of a field of a field … of it.

    None for no text, or one that cannot be read: in it names of fields are as they are, blanks and all.
    """
    return field_of(_read(text), fields) if text else None


def field_of(type_: exp.DataType | None, fields: Iterable[str]) -> exp.DataType | None:
    """The type of a field of a field … of a type."""
    for name in fields:
        inner = type_.expressions if type_ is not None and type_.is_type(exp.DataType.Type.STRUCT) else []
        type_ = next((field.args.get("kind") for field in inner if field.name.lower() == name.lower()), None)
    return type_


def type_named_in(tree: exp.Expr) -> exp.DataType | None:
    """The type that CAST names, and FROM_JSON by a schema as DDL; None of other expressions."""
    if isinstance(tree, exp.Cast):
        return tree.to
    if not isinstance(tree, exp.Func) or spark_name(tree) != "from_json":
        return None
    _, *schema = arguments_of(tree)
    if not schema or not isinstance(schema[0], exp.Literal):
        return None
    text = schema[0].name
    type_ = _read(text if _NESTED.match(text) else f"struct<{text}>")
    structs = [] if type_ is None else type_.find_all(exp.DataType)
    # The parser makes an empty one of what it cannot read, as of a schema as JSON.
    empty = (one.is_type(exp.DataType.Type.STRUCT) and not one.expressions for one in structs)
    return None if any(empty) else type_


def _read(text: str) -> exp.DataType | None:
    try:
        return exp.DataType.build(text, dialect="spark")
    except ParseError:
        return None
