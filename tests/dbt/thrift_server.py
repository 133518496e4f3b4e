"""A thrift server on this machine, started as users start one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from tests.one_at_a_time import starting_spark
from tests.spark_settings import SHORTCUTS

_SCRIPT = Path(__file__).parents[2] / "integration_tests" / "start_thrift_server.sh"


def start_server(directory: Path) -> tuple[int, int]:
    """Returns: its port and its process id; the caller must end the process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [option for key, value in SHORTCUTS.items() for option in ("--conf", f"{key}={value}")]
    with starting_spark():
        started = subprocess.run(
            [_SCRIPT, str(port), directory, *options],
            env={**os.environ, "PYTHON": sys.executable},
            capture_output=True,
            text=True,
        )
    assert started.returncode == 0, started.stderr
    return port, int((directory / "pid").read_text())
