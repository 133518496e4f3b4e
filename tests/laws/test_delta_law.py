"""delta == new − old, for every operator over every other operator, while several tables change at once."""

from __future__ import annotations

import os
import random
from collections.abc import Collection
from dataclasses import replace

import pytest

from sparkivm.algebra import At, Consolidate, Derivation, Relation, Scan
from sparkivm.algebra.derivation import NO_NARROWING, Narrowing
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import negated
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.fuzz.random_data import TABLES
from tests.laws.operators import DAY, OPERATORS, over_a_table, over_other_operators
from tests.laws.worlds import Worlds, WorldSources

ROUNDS = 80
NESTED_SHARE = float(os.environ.get("SPARKIVM_LAWS_NESTED", "0.04"))  # of all pairs of operators


def at_old(relation: Relation) -> Relation:
    """The relation over the old tables, made without any rule."""
    return rewrite(
        relation, lambda node: replace(node, at=At.OLD) if isinstance(node, Scan) else node.before()
    )


def difference_text(one: Relation, other: Relation) -> str:
    """SQL that finds the rows whose weights differ between two Z-sets."""
    return select_text(Consolidate(plus(prune_empty(one), negated(other))), WorldSources(), DUCKDB)


def delta_violation(query: Relation, changed: Collection[str], narrowing: Narrowing = NO_NARROWING) -> str:
    old = at_old(query)
    return difference_text(Derivation(changed, narrowing).delta(query), plus(query, negated(old)))


def old_violation(query: Relation, changed: Collection[str]) -> str:
    return difference_text(Derivation(changed).old(query), at_old(query))


def old_bag_violation(query: Relation, changed: Collection[str]) -> str:
    return difference_text(Derivation(changed).old_bag(query), at_old(query))


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("violation", [delta_violation, old_violation, old_bag_violation])
def test_what_is_derived_from_an_operator_over_tables(name, violation, worlds: Worlds):
    query = over_a_table(name)
    texts: dict[frozenset[str], str] = {}
    for world in range(ROUNDS if violation is delta_violation else ROUNDS // 8):
        changed = worlds.changed(world)
        if changed not in texts:
            texts[changed] = violation(query, changed)
        worlds.expect_nothing(world, texts[changed], f"{violation.__name__} of {name}")


@pytest.mark.parametrize("name", OPERATORS)
def test_what_is_derived_from_an_operator_over_others(name, worlds: Worlds):
    rng = random.Random(f"{worlds.seed} {name}")
    for label, query in over_other_operators(name, rng, NESTED_SHARE):
        text = delta_violation(query, frozenset({*TABLES, DAY}))
        for world in rng.sample(range(len(worlds)), 6):
            worlds.expect_nothing(world, text, f"delta of {label}")
