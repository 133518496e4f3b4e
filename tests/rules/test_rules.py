"""Each pass over the queries of its file: what it must do, what it must not do, and that rows stay the same."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlglot import exp

from sparkivm.algebra import Consolidate, Derivation, Relation
from sparkivm.algebra.project import only
from sparkivm.algebra.relation import keeps_append_only
from sparkivm.algebra.union_all import plus
from sparkivm.algebra.zset import negated
from sparkivm.explain.plan_tree import relation_tree, tree_lines
from sparkivm.frontend.parse import parse_model
from sparkivm.frontend.query import read_query
from sparkivm.normalize.pipeline import normalization, normalize, traced
from sparkivm.normalize.prune_empty import prune_empty
from sparkivm.spark_sql.relations import select_text
from tests.duckdb_dialect import DUCKDB
from tests.fuzz.database import CATALOG
from tests.fuzz.embedded import today
from tests.laws.worlds import Worlds
from tests.laws.worlds import WorldSources as OfNumbers
from tests.rules.testdata import RuleCase, RuleFile, is_in, plans
from tests.seeds import seed

HERE = Path(__file__).parent
WORLDS = 12

PROPERTIES: dict[str, Callable[[Relation], bool]] = {
    "append_only": keeps_append_only,
    "single_row": lambda relation: relation.at_most_one_row,
}
# The files of passes, and of analyses that a pass uses.
PASSES = {name: name for name, _ in normalization(())} | {"null_rejection": "push_filters"}
FILES = {name: RuleFile.read(HERE / f"{name}.txt") for name in (*PASSES, "prune_empty", *PROPERTIES)}
CASES = [(file, case) for file, found in FILES.items() for case in found.cases]


class WorldSources(OfNumbers):
    """Of one world, on the day of its changes."""

    def moment(self, key: str, before: bool) -> exp.Expr:
        return today(1 - before)


@pytest.fixture(scope="module")
def worlds() -> Worlds:
    return Worlds(seed("rules"), 100)


def before_and_after(file: str, case: RuleCase) -> tuple[Relation, Relation]:
    relation = read_query(parse_model("model", case.sql), CATALOG).root
    if file == "prune_empty":
        before = Derivation(case.changed).delta(normalize(relation, relation.columns))
        return before, prune_empty(before)
    passes = normalization(relation.columns)
    index = [name for name, _ in passes].index(PASSES[file])
    *_, before, after = traced("query", relation, passes[: index + 1])
    return before.relation, after.relation


@pytest.mark.parametrize(("file", "case"), CASES, ids=[f"{file}: {case.name}" for file, case in CASES])
def test_rule(file, case, worlds, pytestconfig):
    assert case.expect or case.expect_not, "a case expects something"
    if file in PROPERTIES:
        relation = read_query(parse_model("model", case.sql), CATALOG).root
        relation = normalize(relation, relation.columns)
        lines = tree_lines(relation_tree(relation))
        found = plans(lines, ["yes" if PROPERTIES[file](relation) else "no"])
        after = found.splitlines()[-1:]
    else:
        one, other = before_and_after(file, case)
        lines, after = tree_lines(relation_tree(one)), tree_lines(relation_tree(other))
        found = plans(lines, after)
        _compare_rows(case, one, other, worlds)
    for path in case.expect:
        assert is_in(path, after), "\n".join([f"no {path} in", *after])
    for path in case.expect_not:
        assert not is_in(path, after), "\n".join([f"{path} is in", *after])
    if pytestconfig.getoption("--rewrite"):
        FILES[file].rewrite(case.name, found)
    else:
        assert found == case.plans, "run `make golden` and review the diff"


def _compare_rows(case: RuleCase, one: Relation, other: Relation, worlds: Worlds) -> None:
    names = [name for name in one.columns if name in other.columns]
    difference = Consolidate(plus(only(one, names), negated(only(other, names))))
    text = select_text(difference, WorldSources(), DUCKDB)
    for number in random.Random(case.name).sample(range(len(worlds)), WORLDS):
        worlds.expect_nothing(number, text, case.name)


@pytest.mark.parametrize("file", FILES)
def test_names_of_cases_are_their_own(file):
    names = [case.name for case in FILES[file].cases]
    assert len(set(names)) == len(names)


def test_every_file_is_read():
    assert {file.stem for file in HERE.glob("*.txt")} == set(FILES)
