"""Types of which values that compare as equal are the same value, as 1 and 1.0, and not 1 and '01'."""

from __future__ import annotations

import re

from sparkivm.algebra.decimal_types import MOST_DIGITS, precision_and_scale

# Digits of the decimals that Spark compares whole numbers as.
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_TELLING = re.compile("float|double|collate", re.IGNORECASE)  # as 0.0 and -0.0
_EXACT = ({"float", "double"}, {"date", "timestamp"}, {"date", "timestamp_ntz"})


def same_when_equal(one: str, other: str) -> bool:
    """Whether values of two Spark types that compare as equal are the same value."""
    if one == other or {one, other} in _EXACT or "void" in (one, other):
        return True
    shapes = _decimal(one), _decimal(other)
    if None in shapes:
        return False
    whole, fraction = (max(shape[i] for shape in shapes if shape) for i in (0, 1))
    return whole + fraction <= MOST_DIGITS


def same_to_expressions(one: str, other: str) -> bool:
    """Whether equal values of two types are the same to every expression, as 1 and 1.00 are not to a cast."""
    return one == other and not _TELLING.search(one)


def _decimal(type_: str) -> tuple[int, int] | None:
    """Digits before and after the point."""
    if type_ in _DIGITS:
        return _DIGITS[type_], 0
    found = precision_and_scale(type_)
    return (found[0] - found[1], found[1]) if found else None
