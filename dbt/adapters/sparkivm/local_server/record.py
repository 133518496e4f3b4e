"""The record of a project's Spark server: its process, and how to reach it.

The server holds a lock on this file while it lives. So a record that nobody holds is stale, whatever process
has the id that it names.

tested  tests/adapter/test_local_server.py
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from dbt.adapters.sparkivm.private_directory import open_own

_LONGEST_START_S = 180
_LONGEST_LOOK_S = 2  # while another process looks at a stale record
_PAUSE_S = 0.1


@dataclass(frozen=True)
class Record:
    """Where the server listens on the loopback interface, and what a client has to show."""

    pid: int
    port: int
    token: str


class AlreadyRuns(Exception):
    """Another server holds the record."""


def find_server(directory: Path) -> Record | None:
    """The server of a Spark directory; None if none runs. Waits for one that is starting.

    Removes a stale record.
    Raises: OSError if the record is not a file of this user alone, or if a server has not finished starting.
    """
    path = _path(directory)
    deadline = time.monotonic() + _LONGEST_START_S
    while time.monotonic() < deadline:
        try:
            with _opened(path, os.O_RDWR) as file:
                if _locked(file):
                    _remove(path, file)
                    return None
                text = os.pread(file, os.fstat(file).st_size, 0)
        except FileNotFoundError:
            return None
        if text:
            return Record(**json.loads(text))
        time.sleep(_PAUSE_S)
    raise TimeoutError(f"the server that holds {path} has not finished starting")


@contextmanager
def held_record(directory: Path) -> Generator[Callable[[Record], None], None, None]:
    """Hold the record, which is empty until the yielded function writes it, and remove it at the end.

    Raises: AlreadyRuns; OSError as in find_server.
    """
    path = _path(directory)
    deadline = time.monotonic() + _LONGEST_LOOK_S
    while True:
        with _opened(path, os.O_RDWR | os.O_CREAT) as file:
            if _locked(file) and _is_at(path, file):
                os.ftruncate(file, 0)
                try:
                    yield lambda record: _write(file, record)
                finally:
                    _remove(path, file)
                return
        if time.monotonic() > deadline:
            raise AlreadyRuns(f"another server holds {path}")
        time.sleep(_PAUSE_S)


def _path(directory: Path) -> Path:
    return directory / "server.json"


@contextmanager
def _opened(path: Path, flags: int) -> Generator[int, None, None]:
    file = open_own(path, flags, forbidden=stat.S_IRWXG | stat.S_IRWXO)
    try:
        yield file
    finally:
        os.close(file)  # this also ends the lock


def _locked(file: int) -> bool:
    """Whether this process has the lock now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, file: int) -> bool:
    """Whether nobody removed the file since it was opened."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), os.lstat(path))
    return False


def _write(file: int, record: Record) -> None:
    os.pwrite(file, json.dumps(asdict(record)).encode(), 0)


def _remove(path: Path, file: int) -> None:
    """Remove a file that this process has locked."""
    if _is_at(path, file):
        path.unlink()
