"""Types as CAST takes them: Spark prints the fields of a struct without backticks, which some names need."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkivm.names import quoted

_PLAIN = re.compile(r"\w+")
_NESTED = re.compile(r"(struct|array|map)<(.*)>", re.DOTALL)


def cast_type(type_: str) -> str:
    """A type as it stands in CAST (x AS …).

    type_  as Spark prints it: `struct<first name:int>`
    """
    nested = _NESTED.fullmatch(type_)
    if nested is None:
        return type_
    word, inside = nested[1], nested[2]
    parts = _parts(inside) if inside else ()
    if word == "struct":
        return f"struct<{','.join(map(_field, parts))}>"
    return f"{word}<{','.join(map(cast_type, parts))}>"


def _field(text: str) -> str:
    name, _, type_ = text.partition(":")
    return f"{name if _PLAIN.fullmatch(name) else quoted(name)}:{cast_type(type_)}"


def _parts(text: str) -> Iterator[str]:
    """What commas separate outside of brackets."""
    start = depth = 0
    for position, character in enumerate(text):
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            yield text[start:position]
            start = position + 1
    yield text[start:]
