"""Suites: every case has its model, and wrong names are answered with the right ones."""

import pytest

from benchmarks.cases import SUITES, by_recipe, choose_cases
from benchmarks.errors import BenchmarkError
from benchmarks.paths import BENCH_PROJECT


@pytest.mark.parametrize("suite", SUITES)
def test_every_case_has_a_model(suite):
    models = {path.stem for path in (BENCH_PROJECT / "models").rglob("*.sql")}
    assert {case.model for case in SUITES[suite].cases} <= models


def test_names_are_unique():
    for suite in SUITES.values():
        assert len({case.name for case in suite.cases}) == len(suite.cases)


def test_chooses_all_or_the_named_ones():
    assert choose_cases("first", []) == list(SUITES["first"].cases)
    assert [case.name for case in choose_cases("first", ["no_op"])] == ["no_op"]


def test_an_unknown_suite_lists_the_suites():
    with pytest.raises(BenchmarkError, match="no suite second; the suites are: first, tpch"):
        choose_cases("second", [])


def test_an_unknown_case_lists_the_cases():
    with pytest.raises(BenchmarkError, match="no case q1; its cases are: pricing_summary, "):
        choose_cases("first", ["q1"])


def test_the_queries_of_tpch_share_all_their_batches():
    assert [len(group) for group in by_recipe(SUITES["tpch"].cases).values()] == [22]


def test_cases_share_batches_by_recipe():
    groups = by_recipe(SUITES["first"].cases)
    assert [len(group) for group in groups.values()] == [3, 2, 1]
