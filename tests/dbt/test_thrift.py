"""The materialization over a thrift server, which is another process."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

from tests.dbt.shop_project import CHANGES, MODELS, TABLES, modes, responses, run_sql

pytestmark = [pytest.mark.thrift, pytest.mark.slow]

SCRIPT = Path(__file__).parents[2] / "integration_tests" / "start_thrift_server.sh"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    directory = tmp_path_factory.mktemp("thrift")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    started = subprocess.run(
        [SCRIPT, str(number), directory],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert started.returncode == 0, started.stderr
    yield number
    os.kill(int((directory / "pid").read_text()), signal.SIGTERM)


@pytest.fixture(scope="class")
def dbt_profile_target(port):
    return {
        "type": "sparkivm",
        "method": "thrift",
        "host": "127.0.0.1",
        "port": port,
        "user": "dbt",
        "threads": 2,
    }


class TestOverThrift:
    @pytest.fixture(scope="class")
    def models(self):
        return MODELS

    def test_create_incremental_no_op(self, project):
        run_sql(project, *TABLES)
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "create")
        run_sql(project, *CHANGES)
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "incremental")
        assert len(run_dbt(["test"])) == 3
        run_dbt(["run"])
        assert modes(project) == dict.fromkeys(("lines", "sums", "regions"), "no_op")
        assert {response["statements"] for response in responses(project).values()} == {0}
