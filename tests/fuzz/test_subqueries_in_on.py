"""Subqueries in ON, which the embedded engine does not know in outer joins: against queries of the same meaning."""

from __future__ import annotations

import random

import pytest

from sparkivm.errors import NotIncremental
from tests.fuzz.database import Database
from tests.fuzz.random_data import random_world
from tests.fuzz.view import View

_WORLDS = 25
_IN_S = "select k from s as x where x.b = l.b"

SAME = {
    "select l.k, p.a from r as l left join t as p on l.k = p.k and exists (select 1 from s as x where x.a = l.a)": (
        "select l.k, p.a from (select *, exists (select 1 from s as x where x.a = l.a) as e from r as l) as l "
        "left join t as p on l.k = p.k and l.e"
    ),
    "select l.k, p.a from r as l left join t as p on l.k = p.k and p.b not in (select x.b from s as x)": (
        "select l.k, p.a from r as l left join (select * from t where b not in (select x.b from s as x)) as p on l.k = p.k"
    ),
    "select l.k, p.a from r as l right join t as p on l.k = p.k and l.a < (select max(x.a) from s as x where x.k = l.k)": (
        "select l.k, p.a from (select * from r as l where l.a < (select max(x.a) from s as x where x.k = l.k)) as l "
        "right join t as p on l.k = p.k"
    ),
    "select l.k, p.a from r as l full join t as p on l.k = p.k or p.a = (select min(x.a) from s as x)": (
        "select l.k, p.a from r as l full join (select *, a = (select min(x.a) from s as x) as e from t) as p on l.k = p.k or p.e"
    ),
    "select l.k from r as l left anti join t as p on l.k = p.k and (l.b in (select x.b from s as x where x.a = l.a) or p.a = 1)": (
        "select l.k from (select *, b in (select x.b from s as x where x.a = l.a) as e from r as l) as l "
        "left anti join t as p on l.k = p.k and (l.e or p.a = 1)"
    ),
    "select l.k, p.a from r as l join t as p on l.k = p.k and exists (select 1 from s as x where x.a = l.a and x.b = p.b)": (
        "select l.k, p.a from r as l join t as p on l.k = p.k where exists (select 1 from s as x where x.a = l.a and x.b = p.b)"
    ),
}


@pytest.mark.parametrize("sql", SAME)
def test_a_join_by_a_subquery(sql):
    database = Database()
    for seed in range(_WORLDS):
        world = random_world(random.Random(seed), batches=2)
        database.load(world)
        view = View(database, sql, SAME[sql])
        view.build()
        for version, changes in enumerate(world.batches, 1):
            view.refresh(random.Random(seed), version, dict(changes))
            assert not view.difference(version), f"world {seed}, batch {version}"


def test_a_subquery_that_reads_both_sides_of_an_outer_join_is_refused():
    sql = "select l.k from r as l left join t as p on exists (select 1 from s as x where x.a = l.a and x.b = p.b)"
    with pytest.raises(NotIncremental, match="a subquery in ON that reads both sides"):
        View(Database(), sql)
