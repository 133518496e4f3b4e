"""Counts of Spark's work in a few small refreshes: a plan that grows shows in them, however fast the machine is.

`python -m pytest tests/benchmarks/test_counts.py --rewrite` writes the current counts.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest
from dbt.adapters.sparkivm.session_defaults import DELTA_VERSION

from benchmarks.cases import by_change
from benchmarks.dbt_runner import DbtProject
from benchmarks.event_log import EventLog
from benchmarks.fixed_tables import load
from benchmarks.paths import BENCH_PROJECT, RESULTS
from benchmarks.result import seen
from benchmarks.statements import StatementChanges
from benchmarks.suites.fixed import CASES

pytestmark = [pytest.mark.dbt, pytest.mark.slow]

FILE = RESULTS / "counts.json"
VERSIONS = f"Spark {version('pyspark')}, Delta {DELTA_VERSION}"
MEASURED = [case for case in CASES if case.name != "chain_of_five"]  # as long as all others together


@pytest.fixture(scope="module")
def counts(spark, tmp_path_factory) -> dict[str, dict[str, object]]:
    """Each case's mode and counts: built, changed once, refreshed once."""
    directory: Path = tmp_path_factory.mktemp("counts")
    load(spark, "fixed_counts", 1000)
    sources = StatementChanges(spark, "fixed_counts")
    views = DbtProject(BENCH_PROJECT, "view", directory, variables={"of": "_counts"})
    views.parse()
    views.run(*dict.fromkeys(model for case in MEASURED for model in case.models))
    log = EventLog(spark, directory / "events")
    found: dict[str, dict[str, object]] = {}
    for change, cases in by_change(MEASURED).items():
        sources.apply(change)
        for case in cases:
            with log.recording() as recording:
                refresh = views.run(*case.models).of(case.models)
            work = recording.work(*refresh.intervals)
            found[case.name] = {
                "mode": seen(node.mode for node in refresh.nodes),
                "apply_form": seen(node.apply_form for node in refresh.nodes),
                "statements": work.statements,
                "jobs": work.jobs,
                "plan_nodes": work.plan_nodes,
            }
    return found


def test_refreshes_do_as_much_as_before(counts, request):
    if request.config.getoption("--rewrite"):
        FILE.write_text(json.dumps({"versions": VERSIONS, "cases": counts}, indent=2) + "\n")
    expected = json.loads(FILE.read_text(encoding="utf-8"))
    if expected["versions"] != VERSIONS:
        pytest.skip(f"the counts are those of {expected['versions']}, and this is {VERSIONS}")
    different = [
        f"{case}: {name} {was} -> {counts[case][name]}"
        for case, values in expected["cases"].items()
        for name, was in values.items()
        if counts[case][name] != was
    ]
    assert not different, "if this is intended, run the test with --rewrite and review the diff"
    assert counts.keys() == expected["cases"].keys(), "run the test with --rewrite"
