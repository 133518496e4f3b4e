"""Sources and states in Iceberg catalogs of type hadoop, jdbc, REST and hive; their credentials stay secret."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.in_catalogs import CATALOGS

pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.xdist_group("catalogs"),  # what all tests read takes two JVMs
]

ROOT = Path(__file__).parents[2]
SECRET = "hunter2-9b1e"


@pytest.fixture(scope="module")
def tried(tmp_path_factory) -> tuple[dict[str, str], str]:
    """What went wrong, by catalog; and everything that was printed or logged."""
    directory = tmp_path_factory.mktemp("catalogs")
    command = [sys.executable, "-m", "tests.spark.in_catalogs", str(directory), SECRET]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'python_helpers'}"}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert run.returncode == 0, run.stderr
    logs = [path.read_text(errors="replace") for path in directory.glob("*.log")]
    assert logs
    found = dict(json.loads(line) for line in run.stdout.splitlines() if line.startswith("["))
    return found, "\n".join([run.stdout, run.stderr, *logs])


@pytest.mark.parametrize("catalog", CATALOGS)
def test_each_catalog(tried, catalog):
    found, _ = tried
    assert not found[catalog], found[catalog]


def test_credentials_are_not_logged(tried):
    found, said = tried
    assert "127.0.0.1:9" in found["nowhere"], "the error names the address"
    assert SECRET not in said
