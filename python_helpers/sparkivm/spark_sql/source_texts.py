"""How a statement names the sources that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlglot import exp


class SourceTexts(Protocol):
    """FROM items and change queries of the tables of one refresh, their versions filled in."""

    def new(self, table: str) -> str:
        """A FROM item: the table at the target version."""

    def old(self, table: str) -> str:
        """A FROM item: the table at the frontier."""

    def moment(self, key: str, before: bool) -> exp.Expr:
        """The value of a moment at the refresh, or at the frontier."""

    def changes(self, table: str, fields: Sequence[str]) -> str:
        """A SELECT of these fields of the changed rows, called as `in_changes` says, and their weight."""
