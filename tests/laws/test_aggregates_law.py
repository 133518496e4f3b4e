"""Additive hidden columns over changes, over entries and over both, compared with the aggregate over the rows."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from sparkivm.algebra import HiddenColumn
from sparkivm.algebra.aggregates.count import ROWS
from sparkivm.algebra.aggregates.functions import FUNCTIONS
from sparkivm.algebra.scalar import column
from sparkivm.algebra.sql_expression import expression
from sparkivm.spark.data_types import spark_type
from tests.fuzz.database import Database
from tests.hidden_by_word import HiddenByWord

TYPES = ("tinyint", "int", "bigint", "decimal(12,2)", "decimal(30,2)", "double")
BAGS = 6


def _additive() -> Iterator[tuple[str, HiddenColumn]]:
    """Each additive hidden column that some aggregate uses, with the type of its argument."""
    yield "int", HiddenColumn("s", ROWS)
    for type_ in TYPES:
        columns = HiddenByWord()
        for function in dict.fromkeys(FUNCTIONS.values()):
            function.formula(columns, spark_type(type_))
        hidden = (HiddenColumn("s", function, column("x")) for function in columns.values())
        yield from ((type_, one) for one in hidden if one.linear)


ADDITIVE = list(_additive())


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        *(("sum", type_) for type_ in ("double", "decimal(30,10)", "string")),
        *(("avg", type_) for type_ in ("bigint", "float", "decimal(36,2)", "decimal(20,12)")),
        *(("bit_xor", type_) for type_ in ("string", "decimal(10,0)", "void")),
        ("stddev", "int"),
    ],
)
def test_what_is_not_exact_is_recomputed(name, type_):
    columns = HiddenByWord()
    FUNCTIONS[name].formula(columns, spark_type(type_))
    assert [one.shown for one in columns.values()] == ["recomputed"]


@pytest.fixture(scope="module")
def database() -> Database:
    return Database()


@pytest.fixture(params=ADDITIVE, ids=[f"{one.additive.shown} of {type_}" for type_, one in ADDITIVE])
def bags(request, database, law_seed):
    """Yields the same hidden column for each new random pair of tables a and b."""
    type_, one = request.param
    return _random_bags(database, type_, one, random.Random(f"{law_seed} {type_} {one.additive.shown}"))


def _random_bags(
    database: Database, type_: str, one: HiddenColumn, rng: random.Random
) -> Iterator[HiddenColumn]:
    for _ in range(BAGS):
        for name in "ab":
            values = [
                rng.choice(("null", "-3", "-1", "0", "1", "2", "7")) for _ in range(rng.choice((0, 1, 2, 5)))
            ]
            rows = ", ".join(f"({value})" for value in (*values, "null"))  # VALUES needs at least one row
            database.execute(
                f"create or replace table {name} as select cast(x as {type_}) as x from (values {rows}) as v(x) "
                f"limit {len(values)}"
            )
        yield one


def _value(database: Database, one: HiddenColumn, text: str, rows: str) -> object:
    """The aggregate that the text computes as s, in the form that a group shows."""
    presented = one.presented().sql("duckdb")
    counts = f"(select count(x) from {rows}) as {one.additive.counted_by or 'n'}"
    ((value,),) = database.rows(f"select {presented} from (select {text} as s, {counts}) as found")
    return value


_BOTH = "(select x from a union all select x from b)"


def test_the_entries_of_a_group_add_up(bags, database):
    for one in bags:
        entries = " union all ".join(f"select {one.function.text('x')} as e from {name}" for name in "ab")
        whole = f"(select {one.function.text('x')} from {_BOTH})"
        folded = f"(select {one.additive.of_entries('e')} from ({entries}) as es)"
        assert _value(database, one, folded, _BOTH) == _value(database, one, whole, _BOTH)


def test_the_sum_of_two_values_is_that_of_both_bags(bags, database):
    for one in bags:
        a, b, whole = (f"(select {one.function.text('x')} from {rows})" for rows in ("a", "b", _BOTH))
        plus, minus = (
            expression(text.format(one="coalesce(o, 0)", other="coalesce(p, 0)"), o="o", p="p").sql("duckdb")
            for text in (one.additive.plus, one.additive.minus)
        )
        added = f"(select {plus} from (select {a} as o, {b} as p) as v)"
        taken = f"(select {minus} from (select {whole} as o, {b} as p) as v)"
        assert _value(database, one, added, _BOTH) == _value(database, one, whole, _BOTH)
        assert _value(database, one, taken, "a") == _value(database, one, a, "a")


def test_a_weight_is_as_many_copies(bags, database):
    """Three times a, and twice b minus once b."""
    for one in bags:
        weights = {"a": (3,), "b": (2, -1)}
        zset = " union all ".join(
            f"select x, {w} as w from {name}" for name in weights for w in weights[name]
        )
        rows = (
            "(select x from a union all select x from a union all select x from a union all select x from b)"
        )
        contributed = expression(one.additive.contributed.format(x="x", weight="w"), x="x", w="w")
        total = one.additive.change.format(total=one.additive.adder.text(contributed.sql("duckdb")))
        want = _value(database, one, f"(select {one.function.text('x')} from {rows})", rows)
        for text in (one.additive.of_zset("(x)", "w"), f"coalesce({total}, 0)"):
            assert _value(database, one, f"(select {text} from ({zset}) as z)", rows) == want
