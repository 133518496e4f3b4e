"""Types as CAST takes them: Spark prints the fields of a struct without backticks, which some names need."""

from __future__ import annotations

import re

from sparkivm.algebra.nested_types import named_field, nested
from sparkivm.names import quoted

_PLAIN = re.compile(r"\w+")


def cast_type(type_: str) -> str:
    """A type as it stands in CAST (x AS …).

    type_  as Spark prints it: `struct<first name:int>`
    """
    found = nested(type_)
    if found is None:
        return type_
    word, parts = found
    return f"{word}<{','.join(map(_field if word == 'struct' else cast_type, parts))}>"


def _field(text: str) -> str:
    name, type_ = named_field(text)
    return f"{name if _PLAIN.fullmatch(name) else quoted(name)}:{cast_type(type_)}"
