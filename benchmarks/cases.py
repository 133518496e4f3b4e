"""What is measured: a case is a model of the bench project and the change that it is refreshed after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.changes import EVERY_TABLE, INSERTS, INSERTS_AND_DELETES, NOTHING, Recipe
from benchmarks.errors import BenchmarkError


@dataclass(frozen=True)
class Case:
    """One line of the result table."""

    name: str
    model: str  # a file below project/models
    recipe: Recipe


@dataclass(frozen=True)
class Suite:
    """Cases that are measured together."""

    cases: Sequence[Case]
    repeat: int  # timed rounds, unless the command line says otherwise
    together: bool  # all models in one dbt run, as those of a project; else one dbt run each


# The inserts come after the batches with deletes: the same view goes on.
FIRST = (
    Case("pricing_summary", "pricing_summary", INSERTS_AND_DELETES),
    Case("six_way_join_aggregate", "six_way_join_aggregate", INSERTS_AND_DELETES),
    Case("three_way_join", "three_way_join", INSERTS_AND_DELETES),
    Case("pricing_summary_insert", "pricing_summary", INSERTS),
    Case("three_way_join_insert", "three_way_join", INSERTS),
    Case("no_op", "six_way_join_aggregate", NOTHING),
)

TPCH = tuple(Case(name, name, EVERY_TABLE) for name in (f"q{number:02}" for number in range(1, 23)))

SUITES: Mapping[str, Suite] = {
    "first": Suite(FIRST, repeat=5, together=False),
    "tpch": Suite(TPCH, repeat=3, together=True),
}


def choose_cases(suite: str, names: Sequence[str]) -> list[Case]:
    """The cases of a suite, all or those that are named.

    Raises: BenchmarkError listing what there is, if the suite or a case does not exist.
    """
    if suite not in SUITES:
        raise BenchmarkError(f"there is no suite {suite}; the suites are: {', '.join(SUITES)}")
    cases = SUITES[suite].cases
    unknown = sorted(set(names) - {case.name for case in cases})
    if unknown:
        known = ", ".join(case.name for case in cases)
        raise BenchmarkError(f"suite {suite} has no case {unknown[0]}; its cases are: {known}")
    return [case for case in cases if not names or case.name in names]


def by_recipe(cases: Sequence[Case]) -> dict[Recipe, list[Case]]:
    """Cases that share their change batches, in order of appearance."""
    groups: dict[Recipe, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.recipe, []).append(case)
    return groups
