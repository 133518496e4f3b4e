"""A thrift server on this machine, started as users start one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.one_at_a_time import starting_spark
from tests.spark_settings import SHORTCUTS

_SCRIPT = Path(__file__).parents[2] / "integration_tests" / "start_thrift_server.sh"


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def profile(port: int) -> dict[str, object]:
    """A target of profiles.yml."""
    return {
        "type": "sparkivm",
        "method": "thrift",
        "host": "127.0.0.1",
        "port": port,
        "user": "dbt",
        "threads": 2,
    }


def start_server(
    directory: Path, settings: Mapping[str, str] = SHORTCUTS, packages: Sequence[str] = ()
) -> tuple[int, int]:
    """Returns: its port and its process id; the caller must end the process."""
    port = free_port()
    options = [option for key, value in settings.items() for option in ("--conf", f"{key}={value}")]
    with starting_spark():
        started = subprocess.run(
            [_SCRIPT, str(port), directory, *options],
            env={**os.environ, "PYTHON": sys.executable, "PACKAGES": ",".join(packages)},
            capture_output=True,
            text=True,
        )
    assert started.returncode == 0, started.stderr
    return port, int((directory / "pid").read_text())
