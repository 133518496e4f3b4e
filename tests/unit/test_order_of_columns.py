"""A plan does not depend on the order of a table's columns."""

from __future__ import annotations

import random

import pytest

from sparkivm.spark_sql.relations import select_text
from tests.fuzz.database import CATALOG, Database
from tests.fuzz.embedded import Catalog, Sources
from tests.fuzz.random_data import World
from tests.fuzz.random_queries import QueryMaker
from tests.fuzz.view import View
from tests.reading import read

OTHER_ORDER = Catalog({table: fields[::-1] for table, fields in CATALOG.tables.items()})
NAMED = (
    "select x.k, count(*) as n from (select * from r) as x natural join s group by x.k",
    "select k from (select distinct * from r)",
    "select k, y from (select *, a + 1 as y from r)",
    "select k, `1` as one from (select k, a, b from r) pivot (sum(b) for a in (1))",
    "select k, n, x from (select k, a, b from r) unpivot (x for n in (a, b))",
    "select k, row_number() over (partition by k order by a) as n from r",
    "select k from r where exists (select * from s where s.k = r.k)",
)


@pytest.fixture(scope="module")
def database() -> Database:
    database = Database()
    database.load(World({"r": [], "s": [], "t": []}, ()))
    return database


def plan(database: Database, sql: str, catalog: Catalog) -> str:
    database.catalog = catalog
    view = View(database, sql)
    return select_text(view.plan.core, Sources(0)) + view.plan.finalizer.text("state", "one")


def without_star(seed: int) -> str:
    """A random query that lists its columns instead of using a star."""
    sql = QueryMaker(random.Random(seed), max_depth=2).query()
    return sql if "*" not in sql.replace("count(*)", "") else without_star(seed + 1000)


@pytest.mark.parametrize("sql", [*NAMED, *map(without_star, range(60))])
def test_named_columns(sql, database):
    assert plan(database, sql, OTHER_ORDER) == plan(database, sql, CATALOG)


def test_a_star_shows_the_order():
    assert read("select * from r", OTHER_ORDER).output == read("select * from r").output[::-1]
