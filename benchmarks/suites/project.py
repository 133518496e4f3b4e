"""A project of 50 models in five layers, by the share of its sources that changed: the whole `dbt run`."""

from __future__ import annotations

from benchmarks.bench import OUTPUT, Bench, Outcome
from benchmarks.cases import Case, chosen
from benchmarks.generated_project import write_project
from benchmarks.medallion import models, sources
from benchmarks.medallion_sources import SCHEMA, delivery, load
from benchmarks.progress import step
from benchmarks.statements import StatementChanges

PERCENT = (0, 0.1, 1, 5)


def run(bench: Bench) -> Outcome:
    """Measure each share at one scale factor; at 1 each of the five facts has a million rows."""
    (scale,) = bench.options.sf
    cases = [Case(f"{one:g}", (), delivery(one, scale, bench.options.keys)) for one in PERCENT]
    with step(f"load ten sources at scale factor {scale:g}"):
        load(bench.spark, scale)
    project = write_project(OUTPUT / "medallion", models(), sources())
    measurement = bench.measurement(StatementChanges(bench.spark, SCHEMA), *bench.arms(project))
    results = measurement.measure(
        chosen(cases, bench.options.case), bench.repeat(2), labels={"threads": bench.options.threads}
    )
    return Outcome(results, ["the case is the share of each source that changed, in percent"])
