"""delta == new − old where joins narrow groups, or groups narrow tables: below, over and as every operator."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator

import pytest

from sparkivm.algebra import At, Derivation, LeftJoin, Relation, Restricted, Scan, SemiJoin
from sparkivm.algebra.derivation import NO_NARROWING, Narrowing
from sparkivm.algebra.relation import has_groups
from sparkivm.normalize.prune_empty import prune_empty
from tests.fuzz.random_data import TABLES
from tests.laws.operators import DAY, OPERATORS, over_a_table
from tests.laws.test_delta_law import NESTED_SHARE, delta_violation
from tests.laws.worlds import Worlds

# Joins of a relation over `r` with tables that do not change.
JOINS = (
    "inner_join",
    "inner_join_to_the_right",
    "three_way_join",
    "join_of_groups_through_a_third",
    "null_supplying_side",
    "null_supplying_side_with_residual",
    "left_join",
)
GROUPS = [name for name in OPERATORS if has_groups(over_a_table(name))]
CHANGED = frozenset({"r", DAY})  # other tables narrow; if all change, only groups narrow a table
EVERYTHING = frozenset({*TABLES, DAY})


class Always(Narrowing):
    """Narrows whatever can be narrowed."""

    def by_what_stays(self, changing: Relation, staying: Relation) -> bool:
        return True

    def by_what_groups_read(self, table: Relation, groups: Relation, columns: Collection[str]) -> bool:
        return True

    def leaves_whole(self, relation: Relation) -> bool:
        return True


class Whole(Narrowing):
    """Does not narrow the relations in which changed rows are looked up."""

    def leaves_whole(self, relation: Relation) -> bool:
        return True


def queries(name: str, rng: random.Random) -> Iterator[tuple[str, Relation]]:
    """The join over groups, over groups of other operators, and below other operators."""
    join = OPERATORS[name]
    few = max(2, round(NESTED_SHARE * len(OPERATORS)))
    for label in GROUPS:
        yield f"{name} over {label}", join(over_a_table(label))
        for other in rng.sample(list(OPERATORS), few):
            yield f"{name} over {label} over {other}", join(OPERATORS[label](over_a_table(other)))
    for other in rng.sample(list(OPERATORS), few):
        label = rng.choice(GROUPS)
        yield f"{other} over {name} over {label}", OPERATORS[other](join(over_a_table(label)))


@pytest.mark.parametrize("changed", [CHANGED, EVERYTHING], ids=["one table", "all tables"])
@pytest.mark.parametrize("name", JOINS)
def test_groups_narrowed_before_they_are_read_again(name, changed, worlds: Worlds):
    rng = random.Random(f"{worlds.seed} {name}")
    numbers = [number for number in range(len(worlds)) if worlds.changed(number) <= changed]
    assert numbers, "there is no world in which only r changes"
    for label, query in queries(name, rng):
        text = delta_violation(query, changed, Always())
        for number in rng.sample(numbers, min(2, len(numbers))):
            worlds.expect_nothing(number, text, f"delta of {label}")


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("join_of_groups_through_a_third", CHANGED),
        ("join_of_groups_through_a_third", EVERYTHING),  # the groups narrow the table
        ("null_supplying_side", CHANGED),
    ],
)
def test_a_join_does_narrow_them(name, changed):
    query = OPERATORS[name](over_a_table("totals"))

    def lookups(narrows: bool) -> int:
        derivation = Derivation(changed, Always()) if narrows else Derivation(changed)
        return sum(isinstance(node, Restricted) for node in derivation.delta(query).walk())

    assert lookups(True) > lookups(False)


LOOKING_UP = [
    name for name in OPERATORS if any(isinstance(n, (LeftJoin, SemiJoin)) for n in over_a_table(name).walk())
]


@pytest.mark.parametrize("name", LOOKING_UP)
def test_changed_rows_looked_up_in_a_whole_relation(name, worlds: Worlds):
    query = over_a_table(name)
    texts: dict[frozenset[str], str] = {}
    for world in range(len(worlds) // 4):
        changed = worlds.changed(world)
        if changed not in texts:
            texts[changed] = delta_violation(query, changed, Whole())
        worlds.expect_nothing(world, texts[changed], f"delta of {name}")


@pytest.mark.parametrize("name", ["left_join", "semi_join_by_key"])
def test_a_whole_relation_is_not_restricted_to_changed_rows(name):
    query = over_a_table(name)

    def lookups(narrowing: Narrowing) -> int:
        delta = Derivation({"r"}, narrowing).delta(query)
        return sum(isinstance(node, Restricted) for node in delta.walk())

    assert lookups(Whole()) < lookups(NO_NARROWING)


def test_groups_kept_by_a_semi_join_are_read_by_the_keys_that_change():
    delta = prune_empty(Derivation({"s"}).delta(OPERATORS["semi_join_by_key"](over_a_table("totals"))))
    narrowed = [node.input for node in delta.walk() if isinstance(node, Restricted)]
    read = [node for node in delta.walk() if isinstance(node, Scan) and node.table == "r"]
    assert read
    assert set(read) <= set(narrowed)


def test_former_totals_follow_from_the_present_ones():
    """Old totals follow from the new ones and the changes: the tables are read only at their new versions."""
    old = Derivation({"r"}).old(over_a_table("totals"))
    assert {node.at for node in old.walk() if isinstance(node, Scan)} == {At.NEW}
