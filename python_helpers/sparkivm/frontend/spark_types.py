"""The texts of Spark's types, read."""

from __future__ import annotations

import re
from collections.abc import Iterable

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sparkivm.algebra.function_call import arguments_of, spark_name
from sparkivm.algebra.nested_types import named_field, nested

_NESTED = re.compile(r"\s*(?:struct|array|map)\s*<", re.IGNORECASE)
_BRACKET = re.compile(r"[<>()]")
_PLAIN = re.compile(r"[\w (),]+")


def read_type(text: str) -> exp.DataType | None:
    """The type of a text that Spark prints, or None.

    The parser is not asked for fields, as their names are no SQL: behind one that it does not know it takes
    the text for ended.
    """
    found = nested(text)
    if found is None:
        return _plain(text) if _PLAIN.fullmatch(text) else None
    word, parts = found
    inner = [_read_field(part) if word == "struct" else read_type(part) for part in parts]
    if None in inner:
        return None
    return exp.DataType(this=exp.DataType.Type[word.upper()], expressions=inner, nested=True)


def _plain(text: str) -> exp.DataType | None:
    try:
        return exp.DataType.build(text, dialect="spark")
    except SqlglotError:
        return None


def _read_field(text: str) -> exp.ColumnDef | None:
    name, kind = named_field(text)
    type_ = None if _BRACKET.search(name) else read_type(kind)
    return None if type_ is None else exp.ColumnDef(this=exp.to_identifier(name, quoted=True), kind=type_)


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
    struct = text if _NESTED.match(text) else f"struct<{text}>"
    try:  # within a cast the parser does not pass over what it does not know
        cast = sqlglot.parse_one(f"cast(x as {struct})", dialect="spark")
    except SqlglotError:
        return None
    return cast.to if isinstance(cast, exp.Cast) else None
