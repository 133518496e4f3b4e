"""Processes that share a run of the tests start their JVMs one after the other."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def starting_spark(factory: pytest.TempPathFactory) -> Iterator[None]:
    """All of them fetch Delta's packages into the same directory, which ivy does not lock."""
    with (factory.getbasetemp().parent / "starting_spark.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
