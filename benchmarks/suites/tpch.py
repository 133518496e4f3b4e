"""The 22 queries of TPC-H as one project: changes in every table, one dbt run per arm."""

from __future__ import annotations

from benchmarks.bench import Bench, Outcome
from benchmarks.cases import Case, chosen
from benchmarks.changes import EVERY_TABLE

CASES = tuple(Case(name, (name,), EVERY_TABLE) for name in (f"q{number:02}" for number in range(1, 23)))


def run(bench: Bench) -> Outcome:
    """Measure the chosen queries at one scale factor."""
    (scale,) = bench.options.sf
    cases = chosen(CASES, bench.options.case)
    sources = bench.tpch(scale)
    measurement = bench.measurement(sources, *bench.arms())
    results = measurement.measure(cases, bench.repeat(3), together=True)
    return Outcome(results)
