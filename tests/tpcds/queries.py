"""The 99 queries as models: in Spark's SQL, with output names that a table can have, and with ties broken."""

from __future__ import annotations

import re
from functools import cache

import duckdb
import sqlglot
from sqlglot import exp

from tests.tpcds.generator import connection, create_tables, query_texts

_UNSTORABLE = re.compile(r"\W+")  # not allowed in names of Delta columns


@cache
def model(number: int) -> str:
    tree = sqlglot.parse_one(_texts()[number], dialect="duckdb")
    assert isinstance(tree, exp.Query)
    _name_outputs(tree)
    width = len(_tables().execute(f"describe {tree.sql(dialect='duckdb')}").fetchall())
    _settle_ties(tree, width)
    return tree.sql(dialect="spark", pretty=True)


@cache
def _texts() -> dict[int, str]:
    return query_texts()


@cache
def _tables() -> duckdb.DuckDBPyConnection:
    database = connection()
    create_tables(database)
    return database


def _name_outputs(tree: exp.Query) -> None:
    """Name expressions without a name, and rename outputs whose names a Delta table cannot have."""
    select = tree
    while isinstance(select, exp.SetOperation):
        select = select.this
    used: set[str] = set()
    items = []
    for position, item in enumerate(select.expressions, 1):
        if not item.is_star:
            given = item.unnest().alias_or_name
            wanted = _UNSTORABLE.sub("_", given) or f"column_{position}"
            name = wanted if wanted.lower() not in used else f"{wanted}_{position}"
            used.add(name.lower())
            if name != given:
                item = exp.alias_(item.unalias(), name)
        items.append(item)
    select.set("expressions", items)


def _settle_ties(tree: exp.Query, width: int) -> None:
    """LIMIT may take any of the rows that tie, so we extend the order by all columns."""
    if tree.args.get("limit") is None or tree.args.get("order") is None:
        return
    order = tree.args["order"]
    for position in range(1, width + 1):
        order.append("expressions", exp.Ordered(this=exp.Literal.number(position), nulls_first=True))
