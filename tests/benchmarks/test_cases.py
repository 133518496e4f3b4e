"""Suites: every case has its models, and an unknown name is answered with the known ones."""

import pytest

from benchmarks.cases import by_change, chosen
from benchmarks.errors import BenchmarkError
from benchmarks.paths import BENCH_PROJECT
from benchmarks.suites import fixed, growth, seeds, tpch

CASES = {
    "fixed": fixed.CASES,
    "growth": growth.cases(5, 1),
    "seeds": seeds.cases(1),
    "tpch": tpch.CASES,
}


@pytest.mark.parametrize("suite", CASES)
def test_every_case_has_its_models(suite):
    models = {path.stem for path in (BENCH_PROJECT / "models").rglob("*.sql")}
    assert {model for case in CASES[suite] for model in case.models} <= models
    assert all(case.models for case in CASES[suite])


@pytest.mark.parametrize("suite", CASES)
def test_names_are_unique(suite):
    assert len({case.name for case in CASES[suite]}) == len(CASES[suite])


def test_every_model_is_measured():
    models = [path.stem for path in (BENCH_PROJECT / "models").rglob("*.sql")]
    assert len(models) == len(set(models))
    assert set(models) == {model for cases in CASES.values() for case in cases for model in case.models}


def test_chooses_all_or_the_named_ones():
    assert chosen(fixed.CASES, []) == list(fixed.CASES)
    assert [case.name for case in chosen(fixed.CASES, ["no_op"])] == ["no_op"]


def test_an_unknown_case_lists_the_cases():
    with pytest.raises(BenchmarkError, match="no case q1; its cases are: q01, q02, "):
        chosen(tpch.CASES, ["q1"])


def test_cases_share_batches_by_change():
    assert [len(group) for group in by_change(tpch.CASES).values()] == [22]
    assert [len(group) for group in by_change(fixed.CASES).values()] == [5, 2, 1]


def test_the_same_orders_change_at_each_scale():
    small, large = (growth.cases(scale, 1)[0].change for scale in (1, 5))
    assert small.inserted * 1 == large.inserted * 5
    assert small.deleted * 1 == large.deleted * 5


def test_as_many_customers_as_the_case_says():
    by_name = {case.name: case for case in seeds.cases(1)}
    for count, modulus in ((1, 150_000), (10, 15_000), (100, 1500)):
        noun = "customer" if count == 1 else "customers"
        (text,) = by_name[f"v1_{count}_{noun}"].change.texts
        assert f"c_custkey % {modulus} = " in text
