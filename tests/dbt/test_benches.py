"""Each suite of benchmarks measures one case, in a process of its own as on the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.paths import REPOSITORY

pytestmark = [
    pytest.mark.dbt,
    pytest.mark.nightly,
    pytest.mark.xdist_group("benchmarks"),
]  # one folder for all


@pytest.mark.parametrize(
    ("suite", "case", "options"),
    [
        ("fixed", "aggregate", ("--rows", "100")),
        ("tpch", "q06", ("--sf", "0.01")),
        ("seeds", "q01_one_row", ("--sf", "0.01")),
        ("growth", "pricing_summary", ("--sf", "0.01")),
        ("project", "0", ("--sf", "0.01")),
    ],
)
def test_a_suite_measures_a_case(suite, case, options, tmp_path):
    result = tmp_path / "result.json"
    command = (sys.executable, "-m", "benchmarks.run", "--suite", suite, "--case", case, "--repeat", "1")
    done = subprocess.run(
        (*command, "--json", str(result), *options),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert {row["case"] for row in json.loads(result.read_text())} == {case}
