"""How a statement refers to the sources that it reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sqlglot import exp

from sparkivm.algebra.moment import function_of
from sparkivm.errors import InternalError


class SourceTexts(Protocol):
    """FROM items and change queries for the tables of one refresh, with their versions."""

    def new(self, table: str) -> str:
        """A FROM item: the table at the target version."""

    def old(self, table: str) -> str:
        """A FROM item: the table at the frontier."""

    def moment(self, key: str, before: bool) -> exp.Expr:
        """The value of a moment at the refresh, or at the frontier."""

    def changes(self, table: str, fields: Sequence[str]) -> str:
        """A SELECT of these fields of the changed rows, named by `in_changes`, and their weight."""


class PlainTexts:
    """The same for a relation without changes: each table as it is, moments as calls.

    name_of  the FROM item of a table
    """

    def __init__(self, name_of: Callable[[str], str] = str) -> None:
        self._name_of = name_of

    def new(self, table: str) -> str:
        return self._name_of(table)

    old = new

    def moment(self, key: str, before: bool) -> exp.Expr:
        return function_of(key)

    def changes(self, table: str, fields: Sequence[str]) -> str:
        raise InternalError(f"changes of {table} are read where nothing is derived")
