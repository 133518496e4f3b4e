"""A sum that overflows its type, or comes close, is an error in every statement that adds it up."""

from __future__ import annotations

import random

import duckdb
import pytest

from sparkivm.algebra import HiddenColumn
from sparkivm.algebra.aggregates.sum import OVERFLOW, exact_sum
from sparkivm.algebra.sql_expression import expression
from sparkivm.spark.data_types import spark_type
from tests.fuzz.database import Database
from tests.fuzz.view import View
from tests.laws.small_tables import world


def sum_of(type_: str) -> HiddenColumn:
    return HiddenColumn("s", exact_sum(spark_type(type_), "n"))


WIDE = sum_of("decimal(38,2)")
LIMIT = 10**34  # 36 digits before the point, two of them spare


@pytest.fixture(scope="module")
def database() -> Database:
    return Database()


def checked(database: Database, s: object, n: int, found: HiddenColumn = WIDE) -> object:
    text = found.checked().sql("duckdb")
    value = "null" if s is None else str(s)
    ((result,),) = database.rows(f"select {text} from (select cast({value} as decimal(38,2)) as s, {n} as n)")
    return result


@pytest.mark.parametrize("value", [0, 1, -1, LIMIT * 9 // 10, -LIMIT * 9 // 10])
def test_a_sum_with_digits_to_spare_is_itself(value, database):
    assert checked(database, value, 3) == value


@pytest.mark.parametrize(
    ("value", "count"), [(LIMIT, 3), (-LIMIT, 3), (LIMIT * 10, 1), (None, 1), (None, -1)]
)
def test_a_sum_that_is_too_large_is_an_error(value, count, database):
    with pytest.raises(duckdb.Error, match=OVERFLOW):
        checked(database, value, count)


def test_a_sum_of_no_values_is_null(database):
    assert checked(database, None, 0) is None


def test_narrower_sums_and_whole_numbers_are_not_looked_at(database):
    assert sum_of("bigint").additive.checked == sum_of("decimal(37,2)").additive.checked == "s"
    assert checked(database, None, 3, sum_of("decimal(37,2)")) is None
    assert sum_of("bigint").additive.bounded == "{total}"


@pytest.mark.parametrize(("total", "fails"), [(LIMIT * 9 // 10, False), (LIMIT, True), (-LIMIT, True)])
def test_a_total_of_checked_sums_is_checked_again(total, fails, database):
    text = expression(WIDE.additive.bounded.format(total="x + y"), x="x", y="y").sql("duckdb")
    sql = f"select {text} from (select cast({total} as decimal(38,2)) as x, cast(0 as decimal(38,2)) as y)"
    if fails:
        with pytest.raises(duckdb.Error, match=OVERFLOW):
            database.rows(sql)
    else:
        assert database.rows(sql) == [(total,)]


_NEAR = f"cast(concat(cast(a as string), '{'0' * 33}') as decimal(38,2))"  # a · 10³³
MODELS = {
    "entries": f"select k, sum({_NEAR}) as x from r group by k",
    "entries without keys": f"select sum({_NEAR}) as x from r",
    "groups": f"select k, sum({_NEAR}) as x, min(b) as y from r group by k",
    "recomputed groups": f"select k, sum({_NEAR}) as x, sum(f) as y from r group by k",
}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        (name, form)
        for name in MODELS
        for form in ("rewrite", "replace", "merge")
        if (name, form) != ("entries without keys", "replace")  # a state without keys has no parts
    ],
)
def test_a_refresh_that_adds_up_too_much_fails(name, form, database):
    database.load(world({"r": [(1, 5), (2, 1)]}, {}, {"r": [(1, 5)]}))
    view = View(database, MODELS[name])
    view.build()
    with pytest.raises(duckdb.Error, match=OVERFLOW):
        view.refresh(random.Random(0), 1, _BATCH, form=form)


@pytest.mark.parametrize("name", MODELS)
def test_a_build_that_adds_up_too_much_fails(name, database):
    database.load(world({"r": [(1, 5), (1, 5)]}, {}, {}))
    with pytest.raises(duckdb.Error, match=OVERFLOW):
        View(database, MODELS[name]).build()


_BATCH = world({}, {}, {"r": [(1, 5)]}).batches[0]
