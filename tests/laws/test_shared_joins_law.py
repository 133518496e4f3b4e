"""A relation that reads a join as a table has the same rows and the same delta: every operator over a join."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from sparkivm.algebra import At, Changes, Derivation, Filter, InnerJoin, Relation, Scan
from sparkivm.algebra.project import renamed
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.scalar import equal
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import negated
from sparkivm.normalize.pipeline import normalize
from sparkivm.plan.shared_joins import SharedJoin, read_from, shared_joins
from tests.laws.operators import DAY, OPERATORS, table
from tests.laws.test_delta_law import at_old, difference_text
from tests.laws.worlds import Worlds

ROUNDS = 6


def join(r: Scan, s: Scan) -> InnerJoin:
    positive = Filter(s, expression("a >= 0", a=s.columns[1]))
    return InnerJoin((r, positive), (equal(r.columns[0], s.columns[0]),))


@pytest.fixture(scope="module")
def known() -> SharedJoin:
    query = join(table("r"), table("s"))
    (found,) = shared_joins(normalize(query, query.columns))
    return found


def expanded(relation: Relation, known: SharedJoin, changed: frozenset[str]) -> Relation:
    """The relation with the leaves of a join replaced by what they stand for."""
    changes = Derivation(changed).delta(known.relation)

    def change(node: Relation) -> Relation:
        if not (isinstance(node, (Scan, Changes)) and node.table == known.key):
            return node
        if isinstance(node, Changes):
            return renamed(changes, node.fields)
        return renamed(at_old(known.relation) if node.at is At.OLD else known.relation, node.fields)

    return rewrite(relation, change)


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_over_a_join_that_is_read_as_a_table(name, known, worlds: Worlds):
    query = OPERATORS[name](join(table("r"), table("s")))
    over = read_from(query, [known])
    assert known.key in over.tables
    rng = random.Random(f"{worlds.seed} {name}")
    for world in rng.sample(range(len(worlds)), ROUNDS):
        changed = worlds.changed(world)
        leaves = changed | ({known.key} if changed & known.tables else set())
        delta = expanded(Derivation(leaves).delta(over), known, changed)
        text = difference_text(delta, plus(query, negated(at_old(query))))
        worlds.expect_nothing(world, text, f"delta of {name} over a shared join")


def test_a_wrong_join_is_found(known, worlds: Worlds):
    """The test would notice a join that lacks a condition."""
    query = join(table("r"), table("s"))
    over = read_from(normalize(query, query.columns), [known])
    wrong = SharedJoin(replace(known.relation, predicates=()))
    wrong.__dict__["key"] = known.key
    text = difference_text(expanded(over, wrong, frozenset({"r", DAY})), query)
    assert any(worlds.violations(world, text) for world in range(20))
