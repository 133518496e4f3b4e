"""Descriptions of a model's columns, which become comments of the view's columns.

tested  tests/adapter/test_column_docs.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ColumnDoc:
    """A column in the model's properties.

    quoted  the column has exactly this name; otherwise case does not matter
    """

    name: str
    description: str = ""
    quoted: bool = False

    def is_of(self, column: str) -> bool:
        return column == self.name if self.quoted else column.lower() == self.name.lower()


@dataclass(frozen=True)
class ColumnDocs:
    docs: tuple[ColumnDoc, ...] = ()

    @classmethod
    def of(cls, columns: Mapping[str, Mapping[str, Any]]) -> ColumnDocs:
        """From the columns of a node of dbt's manifest."""
        return cls(
            tuple(
                ColumnDoc(column["name"], column.get("description") or "", bool(column.get("quote")))
                for column in columns.values()
            )
        )

    def comments(self, columns: Iterable[str]) -> dict[str, str]:
        """The comment of each column of the view; empty without a description."""
        return {
            column: next((doc.description for doc in self.docs if doc.is_of(column)), "")
            for column in columns
        }

    def missing(self, columns: Iterable[str]) -> list[str]:
        """The names in the properties that no column of the view has."""
        present = list(columns)
        return [doc.name for doc in self.docs if not any(map(doc.is_of, present))]
