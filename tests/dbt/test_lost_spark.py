"""Spark stops during a run: each model reports it in a few lines, and dbt ends."""

import os
import signal
import subprocess

import pytest

from tests.dbt.lost_spark import errors_in, output_of_run
from tests.dbt.thrift_server import start_server

SETTINGS = {"spark.master": "local[1]", "spark.driver.memory": "700m"}


@pytest.mark.nightly
@pytest.mark.dbt
@pytest.mark.slow
def test_the_session_stops(tmp_path):
    def kill_java(dbt):
        found = subprocess.run(["pgrep", "-P", str(dbt), "java"], capture_output=True, text=True, check=True)
        os.kill(int(found.stdout), signal.SIGKILL)

    lines = output_of_run(tmp_path, {"method": "session", "server_side_parameters": SETTINGS}, kill_java)
    said = errors_in(lines)
    assert set(said) == {"endless", "other"}
    for message in said.values():
        assert message[0].startswith("Spark has stopped; see the end of")
        assert "run dbt again" in message[1]
        assert len(message) <= 5
    text = "\n".join(lines)
    assert "Traceback" not in text
    assert "py4j" not in text
    assert len(lines) < 40, text


@pytest.mark.nightly
@pytest.mark.thrift
@pytest.mark.slow
def test_the_server_stops(tmp_path):
    port, server = start_server(tmp_path / "server")
    lines = output_of_run(
        tmp_path / "project",
        {"method": "thrift", "host": "127.0.0.1", "port": port, "user": "dbt"},
        lambda dbt: os.kill(server, signal.SIGKILL),
    )
    said = errors_in(lines)
    assert set(said) == {"endless", "other"}
    assert said["endless"][0].startswith(f"the thrift server at 127.0.0.1:{port} has stopped")
    assert said["other"][0].startswith(f"cannot connect to the thrift server at 127.0.0.1:{port}")
    assert all(len(message) <= 5 for message in said.values())
    text = "\n".join(lines)
    assert "Traceback" not in text
    assert len(lines) < 40, text
