"""A pass does not change the rows of a relation: normalize(r) = r, for each pass alone and for all of them.

Tested on shapes of operators under filters, in many worlds, and on random queries as the parser reads them,
in a few worlds.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator

import pytest

from sparkivm.algebra import Consolidate, Derivation, Empty, Filter, Relation, Scan
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import rewrite
from sparkivm.algebra.sql_expression import expression
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import negated
from sparkivm.errors import NotIncremental
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.query import read_query
from sparkivm.normalize.drop_projects import drop_projects
from sparkivm.normalize.join_groups import join_groups
from sparkivm.normalize.lift_moments import lift_moments
from sparkivm.normalize.pipeline import normalize
from sparkivm.normalize.prune_columns import prune_columns
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.normalize.push_filters import push_filters
from sparkivm.normalize.share_parts import share_parts
from sparkivm.plan.align_unions import align_unions
from sparkivm.plan.distinct_arguments import with_distinct_arguments_apart
from sparkivm.plan.exact_equalities import with_exact_equalities
from sparkivm.plan.inner_totals import with_inner_totals
from sparkivm.plan.join_order import RowEstimate, Sizes, order_joins
from sparkivm.plan.shared_reads import share_reads
from sparkivm.spark.data_types import SparkType
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.fuzz.database import CATALOG, Database
from tests.fuzz.embedded import Sources
from tests.fuzz.random_data import TABLES, World, random_world
from tests.fuzz.random_queries import QueryMaker
from tests.laws.operators import DAY, OPERATORS, over_a_table, over_other_operators
from tests.laws.test_delta_law import NESTED_SHARE, difference_text
from tests.laws.worlds import Worlds

Pass = Callable[[Relation], Relation]

ROUNDS = 16
PREDICATES_OF_AN_OPERATOR = 8
QUERIES = 20  # per seed
WORLDS_OF_A_QUERY = 2

PASSES: dict[str, Pass] = {
    "join_groups": join_groups,
    "drop_projects": drop_projects,
    "push_filters": push_filters,
    "share_parts": share_parts,
    "lift_moments": lift_moments,
    "normalize": lambda relation: normalize(relation, relation.columns),
}

# x, z and y are the first, the second and the last column.
PREDICATES = (
    "x > 0",
    "y is null",
    "y is not null",
    "coalesce(y, 0) = 0",
    "y = 1 or x = 1",
    "y = 1 or y > 1",
    "not (y = 1)",
    "y <=> x",
    "x in (0, 1)",
    "y in (0, 1)",
    "y between x and 2",
    "x between 0 and y",
    "case when y is null then true else x > 0 end",
    "y + z > 0",
    "not (y is null) and x = z",
    "x = 1",
    "z > 0",
    "true",
)


def filtered(relation: Relation, text: str) -> Relation:
    first, second, *_ = relation.columns
    names = {"x": first, "z": second, "y": relation.columns[-1]}
    return Filter(relation, expression(text, **names))


def violation(relation: Relation, passed: Relation) -> str:
    """SQL that finds the rows that differ in the columns that existed before the pass."""
    return difference_text(relation, only(passed, relation.columns))


def check(label: str, query: Relation, which: str, rounds: int, rng: random.Random, worlds: Worlds) -> None:
    passed = PASSES[which](query)
    if not _is_same(query, passed):
        text = violation(query, passed)
        for number in rng.sample(range(len(worlds)), rounds):
            worlds.expect_nothing(number, text, f"{which} of {label}")


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_under_filters(name, worlds: Worlds):
    rng = random.Random(f"{worlds.seed} {name}")
    for text in rng.sample(PREDICATES, PREDICATES_OF_AN_OPERATOR):
        check(f"{text} of {name}", filtered(over_a_table(name), text), "normalize", ROUNDS, rng, worlds)
    for label, query in over_other_operators(name, rng, NESTED_SHARE):
        text = rng.choice(PREDICATES)
        check(f"{text} of {label}", filtered(query, text), "normalize", ROUNDS, rng, worlds)


@pytest.mark.parametrize("name", OPERATORS)
def test_each_pass_over_an_operator(name, worlds: Worlds):
    rng = random.Random(f"{worlds.seed} {name}")
    one, other = rng.sample(PREDICATES, 2)
    for query in (over_a_table(name), filtered(filtered(over_a_table(name), one), other)):
        for which in PASSES:
            check(f"{one}, {other} of {name}", query, which, ROUNDS // 4, rng, worlds)


@pytest.mark.parametrize("name", OPERATORS)
def test_columns_that_nobody_needs_are_no_others(name, worlds: Worlds):
    """Prune to each column alone, and to all columns but one."""
    query = over_a_table(name)
    for position, kept in enumerate(query.columns):
        for needed in ((kept,), query.columns[:position] + query.columns[position + 1 :]):
            pruned = prune_columns(query, needed)
            assert set(needed) <= set(pruned.columns)
            text = violation(only(query, needed), pruned)
            for number in range(position, len(worlds), len(worlds) // 4):
                worlds.expect_nothing(number, text, f"{needed} of {name}")


@pytest.mark.parametrize("name", OPERATORS)
def test_empty_inputs_leave_the_rows_as_they_are(name, worlds: Worlds):
    """The operator and its delta, with one or two tables that are empty and do not change."""
    for empty in ({"r"}, {"s"}, {"t"}, {"s", "t"}):
        query = rewrite(over_a_table(name), lambda node: _without_rows(node, empty))  # noqa: B023
        delta = Derivation(frozenset(TABLES) - empty | {DAY}).delta(query)
        for relation in (query, delta):
            text = difference_text(relation, relation)  # one of them pruned
            for number in range(0, len(worlds), len(worlds) // 4):
                worlds.expect_nothing(number, text, f"{name} without {empty}")


def _without_rows(node: Relation, tables: Collection[str]) -> Relation:
    return Empty(node.columns) if isinstance(node, Scan) and node.table in tables else node


def _is_same(one: Relation, other: Relation) -> bool:
    """Whether the pass left the text as it was."""
    return one is other or _text(one) == _text(only(other, one.columns))


def _operators(relation: Relation) -> list[type[Relation]]:
    """The operators' types: a filter that moves within one SELECT changes these, but not the text."""
    return [type(node) for node in relation.walk()]


def _text(relation: Relation) -> str:
    return select_text(relation, Sources(1), DUCKDB)


# Random queries


class Tried:
    """Random queries on a database, with a count of how often each pass changed one."""

    def __init__(self, seed: int) -> None:
        self.seed, self.rng, self.database = seed, random.Random(seed), Database()
        self.changed: Counter[str] = Counter()

    def queries(self, count: int, depth: int) -> Iterator[tuple[str, Relation]]:
        for _ in range(count):
            sql = QueryMaker(self.rng, max_depth=depth).query()
            try:
                yield sql, read_query(parse_model("model", sql), CATALOG).root
            except NotIncremental:
                continue

    def load(self) -> World:
        world = random_world(self.rng, 1)
        self.database.load(world)
        return world

    def types_of(self, relation: Relation) -> tuple[SparkType, ...]:
        return tuple(field.spark_type for field in self.database.fields(_text(relation)))

    def check(self, name: str, sql: str, relation: Relation, passed: Relation, worlds: list[World]) -> None:
        """Check that the rows are the same in each world."""
        if passed is relation:
            return
        same = _is_same(relation, passed)
        self.changed[name] += not same or _operators(relation) != _operators(passed)
        if same:
            return
        text = select_text(
            Consolidate(plus(relation, negated(only(passed, relation.columns)))), Sources(1), DUCKDB
        )
        for world in worlds:
            self.database.load(world)
            found = self.database.rows(text)
            assert not found, (
                f"{name} of {sql}\nseed {self.seed}\nrows {dict(world.versions()[1])}\nfound {found}"
            )


def rewrites_of_plans(tried: Tried) -> dict[str, Pass]:
    """Rewrites of a query's relation besides the passes."""
    return {
        "align_unions": lambda relation: align_unions(relation, tried.types_of),
        "exact_equalities": lambda relation: with_exact_equalities(relation, tried.types_of),
        "inner_totals": lambda relation: with_inner_totals(
            normalize(relation, relation.columns), tried.types_of
        ),
        "distinct_arguments": lambda relation: with_distinct_arguments_apart(relation, tried.types_of),
    }


def rewrites_of_deltas(rng: random.Random) -> dict[str, Pass]:
    """Rewrites of a delta, for random table sizes."""
    rows = {table: 10.0 ** rng.randint(2, 9) for table in TABLES}
    sizes = Sizes(rows, dict.fromkeys(TABLES, rng.choice((10.0, 1e7))))
    return {
        "prune_empty": prune_empty,
        "join_order": lambda relation: order_joins(relation, sizes),
        "shared_reads": lambda relation: share_reads(order_joins(relation, sizes), RowEstimate(sizes)),
    }


@pytest.mark.parametrize("chunk", range(4))
def test_passes_over_random_queries(chunk, law_seed):
    tried = Tried(law_seed + chunk)
    for sql, relation in tried.queries(QUERIES, depth=1):
        worlds = [tried.load() for _ in range(WORLDS_OF_A_QUERY)]
        for name, change in {**PASSES, **rewrites_of_plans(tried)}.items():
            tried.check(name, sql, relation, change(relation), worlds if name == "normalize" else worlds[:1])
    assert tried.changed["normalize"] > QUERIES / 2


@pytest.mark.parametrize("chunk", range(2))
def test_rewrites_of_the_deltas_of_random_queries(chunk, law_seed):
    tried = Tried(law_seed + chunk)
    for sql, relation in tried.queries(QUERIES, depth=1):
        worlds = [tried.load()]
        changed = tried.rng.sample(TABLES, tried.rng.randint(1, 3))
        delta = Derivation(changed).delta(normalize(relation, relation.columns))
        for name, change in rewrites_of_deltas(tried.rng).items():
            tried.check(name, sql, delta, change(delta), worlds)
    assert tried.changed["join_order"] > 0
