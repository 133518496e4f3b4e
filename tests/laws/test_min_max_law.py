"""MIN and MAX of a stored group: taken from the delta, kept, or read again; read again only if necessary."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sparkivm.algebra import Derivation
from sparkivm.plan import group_changes
from sparkivm.plan.state import GroupState
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.fuzz.case import Case, Fuzzer, reproducer
from tests.fuzz.database import Database
from tests.fuzz.embedded import Sources
from tests.fuzz.random_data import random_world
from tests.fuzz.view import View
from tests.laws.small_tables import full_row, world

WORLDS = 20
LOWEST = "select k, min(a) as x from r group by k"
HIGHEST = "select k, max(a) as x from r group by k"
# The tables hold this value but no change mentions it: a result that contains it read the tables.
PLANTED = -99


@pytest.fixture(scope="module")
def database() -> Database:
    return Database()


@pytest.fixture(scope="module")
def fuzzer() -> Fuzzer:
    return Fuzzer()


def new_rows(
    database: Database, sql: str, rows: list[Any], gone: list[Any], come: list[Any], planted: int = PLANTED
) -> dict[Any, Any]:
    """Group → extremum after the change. The table holds one row of group 1 that state and change do not know."""
    database.load(world({"r": rows}, {"r": gone}, {"r": come}))
    view = View(database, sql)
    view.build()
    state = view.plan.state
    assert isinstance(state, GroupState)
    database.execute(f"insert into r_1 (k, a) values (1, {planted})")
    change = group_changes.changed_groups(state, group_changes.arguments(state, Derivation({"r"})))
    found = database.rows(select_text(change.rows, Sources(1), DUCKDB))
    database.execute(f"delete from r_1 where a = {planted}")
    names = change.rows.columns
    extremum = next(i for i, name in enumerate(names) if name.startswith(("__ivm_min", "__ivm_max")))
    alive = names.index("__ivm_n")
    return {row[names.index("k")]: row[extremum] for row in found if row[alive] > 0}


def test_a_lower_value_is_taken(database):
    assert new_rows(database, LOWEST, rows=[(1, 5)], gone=[], come=[(1, 3)]) == {1: 3}


def test_a_higher_value_leaves_the_stored_one(database):
    assert new_rows(database, LOWEST, rows=[(1, 5)], gone=[], come=[(1, 8)]) == {1: 5}


def test_an_equal_value_leaves_the_stored_one(database):
    assert new_rows(database, LOWEST, rows=[(1, 5)], gone=[], come=[(1, 5)]) == {1: 5}


def test_a_deleted_value_above_the_minimum_leaves_it(database):
    assert new_rows(database, LOWEST, rows=[(1, 5), (1, 8)], gone=[(1, 8)], come=[]) == {1: 5}


def test_a_deleted_minimum_is_read_again(database):
    assert new_rows(database, LOWEST, rows=[(1, 5), (1, 8)], gone=[(1, 5)], come=[]) == {1: PLANTED}


def test_a_deleted_copy_of_the_minimum_is_read_again(database):
    assert new_rows(database, LOWEST, rows=[(1, 5), (1, 5)], gone=[(1, 5)], come=[]) == {1: PLANTED}


def test_a_minimum_replaced_by_a_lower_value_is_taken(database):
    assert new_rows(database, LOWEST, rows=[(1, 5), (1, 8)], gone=[(1, 5)], come=[(1, 3)]) == {1: 3}


def test_a_minimum_replaced_by_a_higher_value_is_read_again(database):
    assert new_rows(database, LOWEST, rows=[(1, 5), (1, 8)], gone=[(1, 5)], come=[(1, 6)]) == {1: PLANTED}


def test_a_minimum_written_again_is_no_change(database):
    assert new_rows(database, LOWEST, rows=[(1, 5)], gone=[(1, 5)], come=[(1, 5)]) == {}


def test_a_higher_maximum_is_taken(database):
    assert new_rows(database, HIGHEST, rows=[(1, 5)], gone=[], come=[(1, 9)]) == {1: 9}


def test_a_deleted_maximum_is_read_again(database):
    found = new_rows(database, HIGHEST, rows=[(1, 5), (1, 8)], gone=[(1, 8)], come=[], planted=99)
    assert found == {1: 99}


def test_a_deleted_value_below_the_maximum_leaves_it(database):
    assert new_rows(database, HIGHEST, rows=[(1, 5), (1, 8)], gone=[(1, 5)], come=[], planted=99) == {1: 8}


def test_a_null_is_no_value(database):
    assert new_rows(database, LOWEST, rows=[(1, 5)], gone=[], come=[(1, None)]) == {1: 5}
    assert new_rows(database, LOWEST, rows=[(1, 5), (1, None)], gone=[(1, None)], come=[]) == {1: 5}


def test_the_first_value_of_a_group_of_nulls_is_taken(database):
    assert new_rows(database, LOWEST, rows=[(1, None)], gone=[], come=[(1, 7)]) == {1: 7}


def test_a_group_that_loses_its_last_value_is_null_and_not_read_again(database):
    assert new_rows(database, LOWEST, rows=[(1, 5), (1, None)], gone=[(1, 5)], come=[]) == {1: None}


def test_a_group_that_loses_its_last_row_is_gone(database):
    assert new_rows(database, LOWEST, rows=[(1, 5)], gone=[(1, 5)], come=[]) == {}


def test_a_group_that_comes_is_taken(database):
    assert new_rows(database, LOWEST, rows=[], gone=[], come=[(1, 5), (1, 4)]) == {1: 4}


def test_only_the_group_that_lost_its_minimum_is_read_again(database):
    rows = [(1, 5), (2, 5), (2, 8)]
    assert new_rows(database, LOWEST, rows, gone=[(2, 5)], come=[(1, 4)]) == {1: 4, 2: 8}


@pytest.mark.parametrize(
    "sql",
    [
        "select k, min(a) as x, max(a) as y, count(a) as n from r group by k",
        "select min(a) as x, max(b) as y from r",
        "select s, min(d) as x, max(f) as y, sum(b) as z from r group by s",
        "select r.k, max(s.a) as x, min(s.b) as y from r left join s on r.k = s.k group by r.k",
        "select k, min(s) as x from (select k, s from r union all select a, s from t) q group by k having max(s) > ''",
    ],
)
def test_extrema_equal_their_recomputation(sql, fuzzer, law_seed):
    rng = random.Random(f"{law_seed} {sql}")
    for number in range(WORLDS):
        case = Case(number, sql, random_world(rng, batches=3))
        failure = fuzzer.failure_of(case)
        assert failure is None, reproducer(case, failure)


def test_every_row_of_the_tables_has_all_columns():
    assert full_row(1, 2) == (1, 2, None, None, None, None)
