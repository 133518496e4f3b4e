"""What the frontend asks of the catalog: which table or view a name stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sparkivm.engine import Field


@dataclass(frozen=True)
class CatalogTable:
    """A table that keeps a history; `key` is its identity in plans and in the frontier."""

    key: str
    fields: tuple[Field, ...]


@dataclass(frozen=True)
class CatalogView:
    """A view, to be replaced by its text; unqualified names in it are looked up in `namespace`."""

    key: str
    text: str
    fields: tuple[Field, ...]
    namespace: tuple[str, ...]


class Catalog(Protocol):
    """Names to relations."""

    def lookup(self, parts: tuple[str, ...], namespace: tuple[str, ...]) -> CatalogTable | CatalogView:
        """The relation of a name of one to three parts.

        Raises: NotIncremental if it is neither a table with a history nor a view.
        """
