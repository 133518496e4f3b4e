"""restrict(n, K) == the rows of n whose keys are in K, where NULL is a key like any other."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from sparkivm.algebra import Changes, Empty, Keys, Relation, Restricted, Scan
from tests.duckdb_dialect import duckdb_text
from tests.laws.operators import OPERATORS, over_a_table, over_other_operators, table, zsets
from tests.laws.test_delta_law import NESTED_SHARE, difference_text
from tests.laws.worlds import Worlds, WorldSources

ROUNDS = 60
_FIELDS = (("key_1", "a"), ("key_2", "k"))


def key_sets(columns: tuple[str, ...]) -> Iterator[Keys]:
    """Keys from a table or from changes, over one column or two, including the last column."""
    t, d_t = Scan("t", _FIELDS), Changes("t", _FIELDS)
    yield Keys.of(t, [(columns[0], "key_1")])
    yield Keys.of(d_t, [(columns[1], "key_1")])
    yield Keys.of(t, [(columns[0], "key_1"), (columns[1], "key_2")])
    yield Keys.of(d_t, [(columns[-1], "key_1")])
    yield Keys.of(t, [(columns[-1], "key_2"), (columns[0], "key_1")])


def violation(relation: Relation, keys: Keys) -> str:
    """SQL that finds the rows that differ between the restricted relation and a plain EXISTS."""
    weight = "weight"
    narrowed = duckdb_text(relation.restrict(keys), WorldSources(), weight)
    whole = duckdb_text(relation, WorldSources(), weight)
    source = duckdb_text(keys.source, WorldSources())
    equal = " and ".join(f"x.{column} is not distinct from y.{key}" for column, key in keys.pairs)
    names = ", ".join(relation.columns)
    return (
        f"select {names}, sum(weight) from (\n"
        f"select {names}, weight from ({narrowed})\nunion all\n"
        f"select {names}, -weight from ({whole}) as x\n"
        f"where exists (select 1 from ({source}) as y where {equal})\n"
        f") group by all having sum(weight) <> 0"
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_narrows_to_keys(name, worlds: Worlds):
    query = over_a_table(name)
    _check(name, [(query, keys) for keys in key_sets(query.columns)], ROUNDS, worlds)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_over_others_narrows_to_keys(name, worlds: Worlds):
    rng = random.Random(f"{worlds.seed} {name}")
    for label, query in over_other_operators(name, rng, NESTED_SHARE / 2):
        _check(label, [(query, rng.choice(list(key_sets(query.columns))))], 6, worlds)


@pytest.mark.parametrize("name", zsets())
def test_a_zset_narrows_to_keys(name, worlds: Worlds):
    relation = zsets()[name]
    columns = relation.columns[:2] if name == "unweigh" else relation.columns  # its weight is not a key
    if name == "signed_aggregate":
        columns = relation.columns[:1] * 2
    _check(name, [(relation, keys) for keys in key_sets(columns)], ROUNDS // 4, worlds)


def test_a_restricted_relation_narrows_further(worlds: Worlds):
    r = Scan("r", (("k", "k"), ("a", "a")))
    among = r.restrict(Keys.of(Scan("s", (("b", "a"),)), [("a", "b")]))
    _check("restricted", [(among, keys) for keys in key_sets(r.columns)], ROUNDS // 4, worlds)


@pytest.mark.parametrize(
    "name", ["filter_", "union_all", "inner_join", "left_join", "aggregate", "totals", "window"]
)
def test_keys_are_looked_up_in_the_tables_alone(name):
    """In each of them, also where only another column equals the key."""
    query = over_a_table(name)
    narrowed = query.restrict(Keys.of(Changes("t", _FIELDS), [(query.columns[0], "key_1")]))
    lookups = [node.input for node in narrowed.walk() if isinstance(node, Restricted)]
    assert set(lookups) == {node for node in narrowed.walk() if isinstance(node, Scan)}


@pytest.mark.parametrize("excluded", [False, True])
@pytest.mark.parametrize("gone", ["rows", "keys"])
def test_without_rows_or_keys(excluded, gone, worlds: Worlds):
    rows, keys = table("r"), table("s")
    keys_of = Empty(keys.columns) if gone == "keys" else keys
    restricted = Restricted(
        Empty(rows.columns) if gone == "rows" else rows,
        Keys.of(keys_of, zip(rows.columns, keys.columns, strict=True)),
        excluded,
    )
    text = difference_text(restricted, restricted)  # one of the two is pruned
    for world in range(ROUNDS // 4):
        worlds.expect_nothing(world, text, "pruned")


def _check(name: str, cases: list[tuple[Relation, Keys]], rounds: int, worlds: Worlds) -> None:
    texts = [violation(*case) for case in cases]
    for number in range(rounds):
        which, world = number % len(cases), (31 * worlds.seed + number) % len(worlds)
        worlds.expect_nothing(world, texts[which], f"restrict of {name}, case {which}")
