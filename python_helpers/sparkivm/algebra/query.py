"""A whole query: a relation, and how its rows are presented."""

from __future__ import annotations

from dataclasses import dataclass

from sparkivm.algebra.relation import Columns, Relation


@dataclass(frozen=True)
class SortKey:
    """One key of ORDER BY, a column of the query's root."""

    column: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Query:
    """`root` has the columns of `output`, and the sort columns that are not in it."""

    root: Relation
    output: Columns
    sort: tuple[SortKey, ...] = ()
    limit: int | None = None
    offset: int | None = None
