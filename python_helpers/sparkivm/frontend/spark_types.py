"""The texts of Spark's types, read."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp
from sqlglot.errors import ParseError


def type_of_field(text: str | None, fields: Iterable[str] = ()) -> exp.DataType | None:
    """The type of a text, or of a field of a field … of it.

    None for no text, or one that cannot be read: in it names of fields are as they are, blanks and all.
    """
    try:
        type_ = exp.DataType.build(text, dialect="spark") if text else None
    except ParseError:
        return None
    for name in fields:
        inner = type_.expressions if type_ is not None and type_.is_type(exp.DataType.Type.STRUCT) else []
        type_ = next((field.args.get("kind") for field in inner if field.name.lower() == name.lower()), None)
    return type_
