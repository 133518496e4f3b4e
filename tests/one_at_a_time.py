"""The worker processes of a test run start their JVMs one after the other."""

from __future__ import annotations

import fcntl
import getpass
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = Path(tempfile.gettempdir()) / f"dbt-sparkivm-tests-of-{getpass.getuser()}.lock"


@contextmanager
def starting_spark() -> Iterator[None]:
    """Hold a lock: all workers fetch Delta's packages into the same directory, which ivy does not lock."""
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
