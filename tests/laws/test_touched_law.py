"""touched(n) contains the values of each row of delta(n): no affected key is missing."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import pytest

from sparkivm.algebra import (
    Consolidate,
    Derivation,
    Filter,
    InnerJoin,
    JoinCondition,
    Keys,
    LeftJoin,
    Pair,
    Project,
    Relation,
    Restricted,
    Scan,
    Window,
    WindowCall,
)
from sparkivm.algebra.sql_expression import expression
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.fuzz.random_data import TABLES
from tests.laws.operators import (
    DAY,
    OPERATORS,
    distinct,
    generate,
    over_a_table,
    over_other_operators,
    repeat,
    table,
)
from tests.laws.test_delta_law import NESTED_SHARE
from tests.laws.worlds import Worlds, WorldSources

ROUNDS = 60
EVERYTHING = frozenset({*TABLES, DAY})


def violation(query: Relation, columns: tuple[str, ...], d: Derivation) -> str:
    """SQL that finds delta rows whose values in `columns` no touched row has."""
    delta = select_text(Consolidate(prune_empty(d.delta(query))), WorldSources(), DUCKDB)
    touched = select_text(prune_empty(d.touched(query, columns)), WorldSources(), DUCKDB)
    equal = " and ".join(f'x."{name}" is not distinct from y."{name}"' for name in columns)
    return f"select * from ({delta}) as x where not exists (select 1 from ({touched}) as y where {equal})"


def column_sets(query: Relation) -> list[tuple[str, ...]]:
    first, second, *_, last = (*query.columns, query.columns[0])
    return [(first,), (second, first), (query.columns[-1],), tuple(dict.fromkeys((last, second)))]


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_over_tables_misses_no_key(name, worlds: Worlds):
    query = over_a_table(name)
    derivation = Derivation(EVERYTHING)  # it may be asked for several sets of columns
    texts = [violation(query, columns, derivation) for columns in column_sets(query)]
    for world in range(ROUNDS):
        worlds.expect_nothing(world, texts[world % len(texts)], f"touched of {name}")


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_over_others_misses_no_key(name, worlds: Worlds):
    rng = random.Random(f"{worlds.seed} {name}")
    for label, query in over_other_operators(name, rng, NESTED_SHARE):
        text = violation(query, rng.choice(column_sets(query)), Derivation(EVERYTHING))
        for world in rng.sample(range(len(worlds)), 6):
            worlds.expect_nothing(world, text, f"touched of {label}")


def decimals() -> Relation:
    return Scan("t", (("d", "d"),))


BETWEEN: Mapping[str, Callable[[Relation], Relation]] = {
    "joined": lambda joined: joined,
    "filtered": lambda joined: Filter(joined, expression("k is not null", k=joined.columns[0])),
    "generated": generate,
    "repeated": repeat,
    "restricted": lambda joined: Restricted(
        joined, Keys.of(Scan("s", (("key", "k"),)), [(joined.columns[1], "key")])
    ),
    "windowed": lambda joined: Window(joined, ("d",), (WindowCall("n", expression("count(d)", d="d")),)),
}


@pytest.mark.parametrize(
    "join",
    [
        lambda a, b: InnerJoin((a, b), (expression("k = d", k=a.columns[0], d="d"),)),
        lambda a, b: InnerJoin((b, a), (expression("d = k", k=a.columns[0], d="d"),)),
        lambda a, b: LeftJoin(b, a, JoinCondition((Pair("d", a.columns[0]),))),
        lambda a, b: LeftJoin(a, b, JoinCondition((Pair(a.columns[0], "d"),))),
    ],
    ids=["right", "left", "preserved", "null-supplying"],
)
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_an_expression_reads_a_value_itself(join, between, worlds: Worlds):
    """0.00 equals 0 but prints differently: we take no key from a column that is only equal."""
    joined = between(join(table("r"), decimals()))
    query = Project(joined, (("x", expression("cast(d as string)", d="d")),))
    text = violation(query, ("x",), Derivation({"r"}))  # if both changed, their union would have one type
    for world in range(ROUNDS):
        worlds.expect_nothing(world, text, "touched of an expression")


def test_a_value_itself_is_read_from_its_own_table():
    for name, between in BETWEEN.items():
        r = table("r")
        joined = InnerJoin((r, decimals()), (expression("k = d", k=r.columns[0], d="d"),))
        query = Project(between(joined), (("x", expression("cast(d as string)", d="d")),))
        assert "t" in Derivation({"r"}).touched(query, ("x",)).tables, name


@pytest.mark.parametrize("name", ["filter_", "repeat", "generate", "window"])
def test_the_changes_tell_the_keys_of_groups(name):
    """Also if the keys are all columns or a whole partition key: no group is read again to find them."""
    groups = distinct(table("r"))
    query = OPERATORS[name](groups)
    columns = query.columns[:1] if name == "window" else groups.columns
    touched = Derivation({"r"}).touched(query, columns)
    assert not any(isinstance(node, Scan) for node in touched.walk())


def test_a_key_that_is_missed_is_found(monkeypatch, worlds: Worlds):
    """A left join forgets the rows of its right side."""
    monkeypatch.setattr(
        LeftJoin,
        "touched",
        lambda self, columns, d, exact: (
            d.touched(self.left, columns) if set(columns) <= set(self.left.columns) else None
        ),
    )
    query = over_a_table("left_join")
    text = violation(query, query.columns[:1], Derivation(EVERYTHING))
    assert worlds.anywhere(text)
