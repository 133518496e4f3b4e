"""How a statement refers to the sources that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp


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
