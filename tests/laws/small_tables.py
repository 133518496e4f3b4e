"""Changes of a query over two or three small hand-written tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sparkivm.algebra import Derivation
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.query import read_query
from sparkivm.normalize.pipeline import normalize
from sparkivm.normalize.prune_empty import prune_empty
from tests.duckdb_dialect import duckdb_text
from tests.fuzz.database import CATALOG, Database
from tests.fuzz.embedded import Sources
from tests.fuzz.random_data import COLUMNS, Change, Row, World

Rows = Mapping[str, Sequence[tuple[Any, ...]]]

_DATABASE = Database()


def full_row(*values: Any) -> Row:
    """A row of the random tables: its first columns are given, the others are NULL."""
    return (*values, *(None,) * (len(COLUMNS) - len(values)))


def world(rows: Rows, gone: Rows, come: Rows) -> World:
    changes = {
        table: Change(
            tuple(full_row(*row) for row in gone.get(table, ())),
            tuple(full_row(*row) for row in come.get(table, ())),
        )
        for table in {*gone, *come}
    }
    return World({table: [full_row(*row) for row in content] for table, content in rows.items()}, (changes,))


def change_of(sql: str, rows: Rows, gone: Rows | None = None, come: Rows | None = None) -> Counter[Any]:
    """A query's delta as row → weight. `rows`: the old rows of each table, as their first columns k, a, b …"""
    _DATABASE.load(world(rows, gone or {}, come or {}))
    query = read_query(parse_model("model", sql), CATALOG)
    root = normalize(query.root, query.root.columns)
    delta = prune_empty(Derivation({*(gone or {}), *(come or {})}).delta(root))
    text = duckdb_text(delta, Sources(1), weight="weight")
    positions = [root.columns.index(name) for name in query.output]
    result: Counter[Any] = Counter()
    for *row, weight in _DATABASE.rows(text):
        result[tuple(row[position] for position in positions)] += int(weight)
    return Counter({row: weight for row, weight in result.items() if weight})
