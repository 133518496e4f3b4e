"""A view that reads a view."""

from __future__ import annotations

import random

import sqlglot
from sqlglot import exp

from tests.fuzz.case import Case, shared_world
from tests.fuzz.database import Database
from tests.fuzz.metamorphic.history import first_difference, history, visible
from tests.fuzz.random_data import COLUMNS, Change, World
from tests.fuzz.random_queries import DBL, DEC, INT, STR, QueryMaker, of_kind

_LOWER = "lower_view"
_STANDS_FOR = "t"  # the table whose rows the lower view replaces
_SOURCES = {"int": INT, "bigint": INT, "decimal(12,2)": DEC, "string": STR, "double": DBL}


def chain_case(seed: int, depth: int) -> Case:
    """A query over a CTE, which is the lower view and has the columns of a table."""
    rng = random.Random(seed)
    maker = QueryMaker(rng, depth, moments=False, tables=("r", "s"))
    body, columns = maker.select(rng.randint(0, max(0, depth - 1)))
    items = []
    for name, type_ in COLUMNS:
        # DOUBLE columns do not come from the query, because the engine does not print all digits of a DOUBLE.
        fitting = of_kind(columns, INT if type_ == "double" else _SOURCES[type_])
        items.append(f"cast({rng.choice(fitting) if fitting else 'null'} as {type_}) as {name}")
    lower = f"select {', '.join(items)} from ({body}) as lowest"
    ctes = "".join(f"{cte}, " for cte in maker.ctes)
    maker.ctes.clear()
    maker.cte_columns.clear()
    maker.tables = (_STANDS_FOR, _STANDS_FOR, "r")
    upper, _ = maker.select(rng.randint(0, max(0, depth - 1)))
    ctes += f"{_LOWER} as ({lower})" + "".join(f", {cte}" for cte in maker.ctes)
    tree = sqlglot.parse_one(f"with {ctes} {upper}", dialect="spark")
    for table in tree.find_all(exp.Table):
        if table.name == _STANDS_FOR:
            table.set("this", exp.to_identifier(_LOWER))
    return Case(seed, tree.sql(dialect="spark"), shared_world(seed))


def chain_is_flat(database: Database, case: Case) -> str | None:
    """M11: a view over an incremental view equals the view over its query."""
    lower, upper = _parts(case.sql)
    flat = visible(history(database, case.sql, case.world, case.seed))
    contents = visible(history(database, lower, case.world, case.seed))
    batches = tuple(
        {**batch, _STANDS_FOR: Change(tuple((old - new).elements()), tuple((new - old).elements()))}
        for batch, old, new in zip(case.world.batches, contents, contents[1:], strict=False)
    )
    world = World({**case.world.rows, _STANDS_FOR: list(contents[0].elements())}, batches)
    chained = visible(history(database, upper, world, case.seed))
    return first_difference(chained, flat, f"over the view {lower}")


def _parts(sql: str) -> tuple[str, str]:
    """The lower view's query, and the query over it."""
    tree = sqlglot.parse_one(sql, dialect="spark")
    ctes = tree.args["with_"].expressions
    position = next(number for number, cte in enumerate(ctes) if cte.alias == _LOWER)
    lower = ctes[position].this.copy()
    if position:
        lower.set("with_", exp.With(expressions=[cte.copy() for cte in ctes[:position]]))
    tree.set("with_", exp.With(expressions=ctes[position + 1 :]) if ctes[position + 1 :] else None)
    for table in tree.find_all(exp.Table):
        if table.name == _LOWER:
            table.set("this", exp.to_identifier(_STANDS_FOR))
    return lower.sql(dialect="spark"), tree.sql(dialect="spark")
