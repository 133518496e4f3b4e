"""Spark's data types as values. Modules ask these values about a type, instead of its text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from sparkivm.names import quoted

MOST_DIGITS = 38  # of DECIMAL
_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}  # of the decimals that they compare as
_FLOATING = ("float", "double")
_EXACT = ({"float", "double"}, {"date", "timestamp"}, {"date", "timestamp_ntz"})
_PARTS = {"array": 1, "map": 2}
_NESTED = (*_PARTS, "struct")

_UNIT = "(?:year|month|day|hour|minute|second)"
# What may follow the word of a type without parts. Missing words, such as `geometry`, are unknown types.
_DETAILS = {
    **dict.fromkeys((*_DIGITS, *_FLOATING), ""),
    **dict.fromkeys("binary boolean date timestamp timestamp_ntz variant void".split(), ""),
    **dict.fromkeys(("char", "varchar", "time"), r"\(\d+\)"),
    "decimal": r"\(\d+, ?\d+\)",
    "interval": f"(?: {_UNIT}(?: to {_UNIT})?)?",
    "string": r"(?: collate \w+)?",
}
_BARE_NAME = r"[^<>(),:`][^<>(),:]*"
_PLAIN_NAME = "[A-Za-z_][A-Za-z0-9_]*"  # Spark requires backticks around other letters


@dataclass(frozen=True)
class SparkType:
    """A data type. For an unknown type, every question has the safe answer.

    word    `decimal`, `struct`; "" for an unknown type
    detail  for a type without parts, the rest: `(10,2)`, ` collate UNICODE_CI`, ` day to second`;
            for an unknown type, its text
    parts   types of a struct's fields, of an array's elements, of a map's keys and values
    names   of a struct's fields
    """

    word: str
    detail: str = ""
    parts: tuple[SparkType, ...] = ()
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As Spark prints it, with backticks around field names that would make the text ambiguous."""
        return self._text(_BARE_NAME)

    @property
    def cast_text(self) -> str:
        """As CAST (x AS …) accepts it, with backticks around all field names that may need them."""
        return self._text(_PLAIN_NAME)

    @property
    def comparable(self) -> bool:
        """Whether rows can be grouped by it, and values that Spark considers equal are identical.

        Under a collation, different texts are equal.
        """
        return not any(
            part.word in ("", "variant") or (part.word == "string" and part.detail) for part in self.walk()
        )

    @property
    def joinable(self) -> bool:
        """Whether <=> compares it too: Spark groups by maps and calendar intervals, but joins by neither.

        A join by NULLs without a type finds no match: Spark joins by `coalesce(x, default of the type)`.
        """
        unlike = any(part.word == "map" or part == _CALENDAR for part in self.walk())
        return self.comparable and self != VOID and not unlike

    @property
    def storable(self) -> bool:
        """Whether a Delta table can have a column of this type."""
        return not self.holds("", "interval", "time")

    @property
    def cacheable(self) -> bool:
        """Whether every Spark version can cache it in memory."""
        return not self.holds("", "interval", "variant", "void")

    @property
    def whole(self) -> bool:
        """Whether it is an integer type (DECIMAL is not one)."""
        return self.word in _DIGITS

    @property
    def floating(self) -> bool:
        return self.word in _FLOATING

    @property
    def holds_floating(self) -> bool:
        """Whether it may contain FLOAT or DOUBLE, so that equal values may differ: 0.0 and -0.0."""
        return self.holds("", *_FLOATING)

    @property
    def holds_map(self) -> bool:
        return self.holds("map")

    @property
    def decimal(self) -> tuple[int, int] | None:
        """(precision, scale); None for other types."""
        if self.word != "decimal":
            return None
        precision, scale = self.detail.strip("()").split(",")
        return int(precision), int(scale)

    @property
    def char_length(self) -> int | None:
        """n of CHAR(n); None for other types."""
        return int(self.detail.strip("()")) if self.word == "char" else None

    @property
    def is_span(self) -> bool:
        """Whether it looks like the result of WINDOW or SESSION_WINDOW."""
        return self.names == ("start", "end") and self.parts in (2 * (TIMESTAMP,), 2 * (TIMESTAMP_NTZ,))

    @property
    def in_queries(self) -> SparkType:
        """The type of the column in a query that reads it: CHAR(n) and VARCHAR(n) are strings there."""
        if self.word in ("char", "varchar"):
            return STRING
        return SparkType(self.word, self.detail, tuple(part.in_queries for part in self.parts), self.names)

    def field(self, path: Iterable[str]) -> SparkType | None:
        """The type of a nested field; None if there is no such field."""
        found = self
        for name in path:
            names = [mine.lower() for mine in found.names]
            if name.lower() not in names:
                return None
            found = found.parts[names.index(name.lower())]
        return found

    def same_when_equal(self, other: SparkType) -> bool:
        """Whether values of both types are identical if they compare equal: so 1 and 1.0; not 1 and '01'."""
        if self == other:
            return self.comparable
        words = {self.word, other.word}
        if words in _EXACT or "void" in words:
            return True
        shapes = self._shape, other._shape
        if None in shapes:
            return False
        whole, fraction = (max(shape[i] for shape in shapes if shape) for i in (0, 1))
        return whole + fraction <= MOST_DIGITS

    def same_to_expressions(self, other: SparkType) -> bool:
        """Whether every expression treats equal values alike; not so for 1 and 1.00, nor for 0.0 and -0.0."""
        return self == other and self.comparable and not self.holds_floating

    def holds(self, *words: str) -> bool:
        """Whether it, or a part of it, has one of these words."""
        return any(part.word in words for part in self.walk())

    def walk(self) -> Iterator[SparkType]:
        """The type and all of its parts."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def _shape(self) -> tuple[int, int] | None:
        """Digits before and after the decimal point."""
        if self.whole:
            return _DIGITS[self.word], 0
        return (self.decimal[0] - self.decimal[1], self.decimal[1]) if self.decimal else None

    def _text(self, name_without_backticks: str) -> str:
        if self.word not in _NESTED:
            return self.word + self.detail
        parts = [part._text(name_without_backticks) for part in self.parts]
        if self.word == "struct":
            names = (n if re.fullmatch(name_without_backticks, n) else quoted(n) for n in self.names)
            parts = [f"{name}:{part}" for name, part in zip(names, parts, strict=True)]
        return f"{self.word}<{','.join(parts)}>"


STRING, BINARY = SparkType("string"), SparkType("binary")
INT, BIGINT = SparkType("int"), SparkType("bigint")
TIMESTAMP, TIMESTAMP_NTZ = SparkType("timestamp"), SparkType("timestamp_ntz")
VOID = SparkType("void")  # of NULL
_CALENDAR = SparkType("interval")


def decimal_type(precision: int, scale: int) -> SparkType:
    return SparkType("decimal", f"({precision},{scale})")


@lru_cache(4096)
def spark_type(text: str) -> SparkType:
    """The type whose `str` is the text; an unknown type for any other text."""
    try:
        return _Text(text).type()
    except ValueError:
        return SparkType("", text)


def printed_type(text: str) -> SparkType:
    """The type that Spark prints as a text; an unknown one if field names make it ambiguous.

    Spark prints them unquoted: `struct<a:b:int>` may be one of two structs, and a backtick is part of a name.
    No name can hide a part of the type: it has no colon, and a field's type comes after a colon.
    """
    return SparkType("", f"unclear {text}") if "`" in text else spark_type(text)


class _Text:
    """Parses a text from left to right. Raises: ValueError for text that it does not understand."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def type(self) -> SparkType:
        found = self._type()
        self._take(r"\Z")
        return found

    def _type(self) -> SparkType:
        word = self._take("[a-z_]+")
        if word in _DETAILS:
            return SparkType(word, self._take(_DETAILS[word]).replace(", ", ","))
        if word not in _NESTED:
            raise ValueError(word)
        names: list[str] = []
        parts: list[SparkType] = []
        self._take("<")
        while not self._is_next(">"):
            if parts:
                self._take(",")
            if word == "struct":
                names.append(self._name())
                self._take(":")
            parts.append(self._type())
        self._take(">")
        if len(parts) != _PARTS.get(word, len(parts)):
            raise ValueError(word)
        return SparkType(word, parts=tuple(parts), names=tuple(names))

    def _name(self) -> str:
        if self._is_next("`"):
            return self._take("`(?:[^`]|``)*`")[1:-1].replace("``", "`")
        return self._take(_BARE_NAME)

    def _is_next(self, pattern: str) -> bool:
        return re.compile(pattern).match(self._text, self._at) is not None

    def _take(self, pattern: str) -> str:
        found = re.compile(pattern).match(self._text, self._at)
        if found is None:
            raise ValueError(self._text)
        self._at = found.end()
        return found[0]
