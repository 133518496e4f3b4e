"""Passes the JVM's settings in a file that only the user can read; others can see a command line."""

from __future__ import annotations

import os
import shlex
import string
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from dbt.adapters.sparkivm.environment import variable

_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"  # what pyspark appends to `spark-submit`
_OPTION = "--properties-file"
_PLAIN = frozenset(string.ascii_letters + string.digits + "._-/")


@contextmanager
def submitted(settings: Mapping[str, str]) -> Generator[None, None, None]:
    """In this context pyspark starts a JVM with these settings and the user's own arguments.

    The launcher still puts the driver's memory, Java options and class path (`spark.driver.…`) on Java's
    command line, because Java accepts them nowhere else. Spark trims values in the file, so the context gets
    them again.
    Raises: OSError if a file that the user's arguments name cannot be read.
    """
    arguments, theirs = _without_file(shlex.split(os.environ.get(_ARGUMENTS, "pyspark-shell")))
    text = properties_text(settings).encode("ascii")
    if theirs is None:
        arguments = [
            "--load-spark-defaults",
            *arguments,
        ]  # otherwise a file replaces spark-defaults.conf
    else:
        text = Path(theirs).read_bytes() + b"\n\n" + text  # Spark reads only one file; the last value wins
    with tempfile.TemporaryDirectory(prefix="sparkivm-") as private:  # nobody else can enter it
        path = os.path.join(private, "spark.properties")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
        with variable(_ARGUMENTS, shlex.join([_OPTION, path, *arguments])):
            yield


def properties_text(settings: Mapping[str, str]) -> str:
    """Settings as Java's properties, in ASCII."""
    return "".join(f"{_escaped(key)}={_escaped(value)}\n" for key, value in settings.items())


def _escaped(text: str) -> str:
    """Letters and digits unchanged, other characters as UTF-16 units."""
    return "".join(one if one in _PLAIN else _by_units(one) for one in text)


def _by_units(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def _without_file(arguments: list[str]) -> tuple[list[str], str | None]:
    """spark-submit arguments without `--properties-file`, and the file that the last of these names."""
    kept: list[str] = []
    file: str | None = None
    rest = iter(arguments)
    for one in rest:
        if one == _OPTION:
            file = next(rest, None)
        elif one.startswith(f"{_OPTION}="):
            file = one.partition("=")[2]
        else:
            kept.append(one)
    return kept, file
