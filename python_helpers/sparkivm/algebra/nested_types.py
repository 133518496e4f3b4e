"""Spark's texts of nested types, taken apart: in `struct<first name:int>` names are as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NESTED = re.compile(r"(struct|array|map)<(.*)>", re.DOTALL)


def nested(type_: str) -> tuple[str, tuple[str, ...]] | None:
    """The word of a nested type and what is in its brackets: fields or types; None of another type."""
    found = _NESTED.fullmatch(type_)
    if found is None:
        return None
    return found[1], tuple(_parts(found[2])) if found[2] else ()


def named_field(text: str) -> tuple[str, str]:
    """The name and the type of a field."""
    name, _, type_ = text.partition(":")
    return name, type_


def _parts(text: str) -> Iterator[str]:
    """What commas separate outside of brackets."""
    start = depth = 0
    for position, character in enumerate(text):
        depth += (character in "<(") - (character in ">)")
        if character == "," and not depth:
            yield text[start:position]
            start = position + 1
    yield text[start:]
