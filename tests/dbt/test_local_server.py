"""`sparkivm server`: dbt processes share a Spark that stays, and end only what is theirs."""

import os
import re
import signal
import time

import pytest

from tests.dbt.lost_spark import endless_run, errors_in, lines_of, started, write_project
from tests.one_at_a_time import starting_spark
from tests.spark_settings import SHORTCUTS

pytestmark = [
    pytest.mark.dbt,
    pytest.mark.slow,
    pytest.mark.xdist_group("local_server"),  # one server for all tests
]

# One core: while an endless statement runs, no other can end.
SETTINGS = {**SHORTCUTS, "spark.master": "local[1]", "spark.driver.memory": "700m"}
USES = "using the Spark of `sparkivm server`"
_DEADLINE_S = 300


def output(process):
    text, _ = process.communicate(timeout=_DEADLINE_S)
    return process.returncode, text


def server(directory, *arguments):
    return output(started(directory, "dbt.adapters.sparkivm.command", "main", "server", *arguments))


def dbt(directory, *arguments):
    return started(directory, "dbt.cli.main", "cli", *arguments)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    directory = tmp_path_factory.mktemp("kept")
    write_project(directory, {"method": "session", "server_side_parameters": SETTINGS})
    for name in ("one", "two"):
        model = f"{{{{ config(materialized='incremental_view') }}}} select '{name}' as a"
        (directory / "models" / f"{name}.sql").write_text(model)
    with starting_spark():
        code, said = server(directory, "start", "--idle-minutes", "10")
    assert code == 0, said
    yield directory
    server(directory, "stop", "--now")


def used_by(project):
    code, said = server(project, "status")
    assert code == 0, said
    return re.search(r"used by +(.*)", said)[1]


def test_processes_use_it_at_once(project):
    assert "is already running" in server(project, "start")[1]
    assert "nobody" in used_by(project)
    runs = [
        dbt(project, "run", "--select", name, "--target-path", name, "--log-path", name)
        for name in ("one", "two")
    ]
    for run in runs:
        code, said = output(run)
        assert code == 0, said
        assert USES in said
    assert "nobody" in used_by(project)


@pytest.mark.nightly
def test_the_next_process_finds_what_the_last_one_built(project):
    for _ in range(2):
        code, said = output(dbt(project, "run", "--select", "one"))
        assert code == 0, said
    assert "NO_OP" in said


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "ctrl_c"])
def test_what_a_process_was_running_ends_with_it(project, number):
    with endless_run(project, log=f"logs{number}") as run:
        assert used_by(project) == f"dbt processes {run.pid}"
        code, said = server(project, "stop")
        assert code == 1
        assert f"dbt is using the server (process {run.pid})" in said
        os.kill(run.pid, number)
        output(run)
        code, said = output(dbt(project, "run", "--select", "other"))
    assert code == 0, said
    assert USES in said


@pytest.mark.nightly
def test_other_settings_are_not_used_silently(project):
    profile = project / "profiles.yml"
    text = profile.read_text()
    profile.write_text(text.replace("700m", "800m"))
    try:
        code, said = output(dbt(project, "run", "--select", "other"))
        assert code != 0
        assert "other settings than this profile has: spark.driver.memory" in said
        assert "spark.driver.memory" in server(project, "start")[1]
    finally:
        profile.write_text(text)


def test_stop(project):
    code, said = server(project, "stop")
    assert code == 0, said
    assert not (project / ".spark" / "server.json").exists()
    assert server(project, "status")[0] == 1


@pytest.mark.nightly
def test_it_dies_during_a_run(tmp_path):
    """The run ends in a few lines; the next one starts its own Spark, on the same catalog."""
    write_project(tmp_path, {"method": "session", "server_side_parameters": SETTINGS})
    with starting_spark():
        code, said = server(tmp_path, "start")
    assert code == 0, said
    pid = int(re.search(r"process (\d+)", said)[1])
    with endless_run(tmp_path) as run:
        os.kill(pid, signal.SIGKILL)
        lines = lines_of(run)
    said = errors_in(lines)
    assert said["endless"][0].startswith("Spark has stopped; see the end of")
    assert "Traceback" not in "\n".join(lines)
    time.sleep(5)  # until Java has ended too
    assert "No server is running" in server(tmp_path, "status")[1]
    with starting_spark():
        code, text = output(dbt(tmp_path, "run", "--select", "other"))
    assert code == 0, text
    assert USES not in text
