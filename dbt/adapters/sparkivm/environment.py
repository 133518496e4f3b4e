"""The Spark and Java that the environment names, and setting a variable for the start of one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pyspark


def spark_home() -> Path:
    """The folder of the Spark that pyspark starts."""
    return Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0])


def java_command() -> str | None:
    """The Java that Spark starts, which may not exist; None if the environment names none."""
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin", "java") if home else shutil.which("java")


@contextmanager
def variable(name: str, value: str) -> Generator[None, None, None]:
    """Set an environment variable in this context, then restore it."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
