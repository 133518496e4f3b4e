"""Starts the process of a server, which stays when this process ends."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from dbt.adapters.sparkivm.local_server.client import Refused
from dbt.adapters.sparkivm.private_directory import make_private, private_file


def start_server(directory: Path, settings: Mapping[str, str], *, project: Path, idle_s: float) -> int:
    """Start a server and wait until dbt can use it. Returns: its process id.

    directory  the Spark directory
    project    relative paths in SQL are relative to it, as in dbt
    Raises: Refused if it does not start, in its own words; OSError.
    """
    make_private(directory)
    log = directory / "server.log"
    with private_file(log) as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "dbt.adapters.sparkivm.local_server.keeper"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=project,
            start_new_session=True,  # so it ends neither with the terminal nor by Ctrl-C
            text=True,
        )
    said = _answer(
        process, json.dumps({"directory": str(directory), "settings": dict(settings), "idle_s": idle_s})
    )
    if not said:
        raise Refused(f"the server did not start; see {log}")
    if error := json.loads(said).get("error"):
        raise Refused(error)
    return process.pid


def _answer(process: subprocess.Popen[str], request: str) -> str:
    """The first line that a process prints; "" if it ended before."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(request)
        process.stdin.close()
    except BrokenPipeError:  # it has ended, and its log says why
        return ""
    return process.stdout.readline()
