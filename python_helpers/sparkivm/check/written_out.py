"""A query whose names of relations are replaced by subqueries, and where each place of it comes from.

tested  tests/check/test_written_out.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from sparkivm.engine import EngineError
from sparkivm.errors import NotIncremental
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.table_references import table_references
from sparkivm.names import quoted

_POSITION = re.compile(r"\bline \d+,? pos \d+")


@dataclass(frozen=True)
class _Edit:
    """`new` instead of [start, end) of the original."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class WrittenOut:
    """The text with its edits made, in their order."""

    original: str
    edits: tuple[_Edit, ...]

    @property
    def text(self) -> str:
        pieces, position = [], 0
        for edit in self.edits:
            pieces += [self.original[position : edit.start], edit.new]
            position = edit.end
        return "".join([*pieces, self.original[position:]])

    def in_original(self, error: EngineError) -> EngineError:
        """An error of the text, with its position in the original."""
        if error.position is None:
            return error
        line, column = error.position
        offset = self._origin(_offset(self.text, line, column))
        before = self.original[:offset]
        line = before.count("\n") + 1 + error.lines_before
        place = f"line {line}, pos {offset - before.rfind(chr(10)) - 1}"
        return EngineError(_POSITION.sub(place, str(error)), error.condition, error.lines_before)

    def _origin(self, offset: int) -> int:
        longer = 0  # how much longer the text is so far
        for edit in self.edits:
            start = edit.start + longer
            if offset < start:
                break
            if offset < start + len(edit.new):
                return edit.start
            longer += len(edit.new) - (edit.end - edit.start)
        return offset - longer


def _offset(text: str, line: int, column: int) -> int:
    """Of a line and a column, both from 1."""
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column - 1


def written_out(sql: str, subquery_of: Callable[[tuple[str, ...]], str | None]) -> WrittenOut:
    """A query with names of relations replaced; a text that the parser cannot read stays as it is.

    subquery_of  gives the subquery for a name, by its parts; None: the name stays
    """
    try:
        tree = parse_model("", sql)
    except NotIncremental:
        return WrittenOut(sql, ())
    edits: list[_Edit] = []
    bare: list[tuple[str, ...]] = []  # names of replaced relations without alias
    for reference in table_references(tree) or ():
        subquery = subquery_of(reference.parts)
        if subquery is None:
            continue
        if not reference.aliased:
            subquery += f" as {quoted(reference.parts[-1])}"
            bare.append(_lower(reference.parts))
        edits.append(_Edit(reference.start, reference.end, subquery))
    for column in tree.find_all(exp.Column) if bare else ():
        edits += _without_schema(column, bare)
    return WrittenOut(sql, tuple(sorted(edits, key=lambda edit: edit.start)))


def _without_schema(column: exp.Column, relations: Sequence[tuple[str, ...]]) -> list[_Edit]:
    """A column that is named by schema and table: a subquery's alias has no schema."""
    parts = _lower(tuple(part.name for part in column.parts))
    for relation in relations:
        size = len(relation)
        if 1 < size < len(parts) and parts[:size] == relation:
            first, table = column.parts[0], column.parts[size - 1]
            return [_Edit(first.meta["start"], table.meta["start"], "")]
    return []


def _lower(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(str.lower, parts))
