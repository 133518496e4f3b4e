"""The Spark and Java that the environment names, and setting a variable for the start of one.

tested  tests/adapter/test_java_runtime.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from dbt_common.exceptions import DbtRuntimeError

_ACCEPTED_JAVA = (17, 21)
_DO = "install Java 17 or 21 and put it on PATH, or set JAVA_HOME to it"


def spark_home() -> Path:
    """The folder of the Spark that pyspark starts."""
    return Path(os.environ.get("SPARK_HOME") or pyspark.__path__[0])


def java_command() -> str | None:
    """The Java that Spark starts, which may not exist; None if the environment names none."""
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin", "java") if home else shutil.which("java")


def check_java() -> None:
    """Raises: DbtRuntimeError, in one sentence, unless Spark would start Java 17 or 21."""
    java = java_command()
    if java is None or shutil.which(java) is None:
        raise DbtRuntimeError(f"Spark needs Java, but {java or 'java on PATH'} does not exist: {_DO}.")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    major = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if answer.returncode != 0 or major is None:
        raise DbtRuntimeError(f"Spark needs Java, but {java} does not run: {_DO}.")
    if int(major[1]) not in _ACCEPTED_JAVA:
        raise DbtRuntimeError(f"Spark 4 needs Java 17 or 21, but {java} is Java {major[1]}: {_DO}.")


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
