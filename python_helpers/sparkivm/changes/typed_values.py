"""Reads a dataclass from untrusted JSON: each value has the type of its field, or it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
_LARGEST = 2**63  # the limit of SQL's integers


class WrongType(Exception):
    """A value does not have the expected type."""


def typed(kind: type[T], value: object) -> T:
    """A JSON value as a value of a type.

    kind  a dataclass, int, str, bool, Literal of strings, Mapping from strings, or tuple of such types
    Raises: WrongType, also for fields that are missing or unknown.
    """
    return _typed(kind, value)  # type: ignore[no-any-return]  # a type as a value has no type


def _typed(kind: Any, value: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in (str, bool) and type(value) is kind:
        return value
    if kind is int and type(value) is int and -_LARGEST <= value < _LARGEST:  # in Python True is an int
        return value
    if origin is Literal and type(value) is str and value in inner:
        return value
    if origin is Mapping and isinstance(value, dict):
        return {key: _typed(inner[1], item) for key, item in value.items()}
    if origin is tuple and isinstance(value, list):
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        if len(kinds) == len(value):
            return tuple(map(_typed, kinds, value))
    if isinstance(kind, type) and is_dataclass(kind) and isinstance(value, dict):
        kinds_of = _fields(kind)
        if value.keys() == kinds_of.keys():
            return kind(**{name: _typed(of, value[name]) for name, of in kinds_of.items()})
    raise WrongType


@cache
def _fields(kind: type) -> Mapping[str, Any]:
    """The types of a dataclass's fields, by name."""
    return get_type_hints(kind)
