"""Starts and ends the process of a server, which stays when the process that started it ends."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from dbt.adapters.sparkivm.local_server.client import Refused, ask_server
from dbt.adapters.sparkivm.local_server.record import Record, find_server
from dbt.adapters.sparkivm.private_directory import make_private, private_file

_LONGEST_END_S = 120
_PAUSE_S = 0.2


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


def stop_server(directory: Path, *, now: bool) -> Record | None:
    """End the server of a Spark directory, and wait until another Spark can start there. None if none runs.

    now  also if clients use it
    Raises: Refused if clients use it; OSError as ask_server, or if it does not end.
    """
    found = ask_server(directory, want="stop", now=now)
    if found is None:
        return None
    deadline = time.monotonic() + _LONGEST_END_S
    while find_server(directory) == found.record:
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"process {found.record.pid} did not end in time; see {directory / 'server.log'}"
            )
        time.sleep(_PAUSE_S)
    return found.record


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
