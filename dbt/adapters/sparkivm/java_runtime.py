"""Checks the Java that Spark would start, before Spark fails with its own message."""

from __future__ import annotations

import re
import shutil
import subprocess

from dbt.adapters.sparkivm.environment import java_command
from dbt_common.exceptions import DbtRuntimeError

_ACCEPTED = (17, 21)
_DO = "install Java 17 or 21 and put it on PATH, or set JAVA_HOME to it"


def check_java() -> None:
    """Raises: DbtRuntimeError, in one sentence, unless Spark would start Java 17 or 21."""
    java = java_command()
    if java is None or shutil.which(java) is None:
        raise DbtRuntimeError(f"Spark needs Java, but {java or 'java on PATH'} does not exist: {_DO}.")
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    major = re.search(r'version "(?:1\.)?(\d+)', answer.stderr + answer.stdout)
    if answer.returncode != 0 or major is None:
        raise DbtRuntimeError(f"Spark needs Java, but {java} does not run: {_DO}.")
    if int(major[1]) not in _ACCEPTED:
        raise DbtRuntimeError(f"Spark 4 needs Java 17 or 21, but {java} is Java {major[1]}: {_DO}.")
