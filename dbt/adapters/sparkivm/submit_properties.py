"""What the JVM is started with goes by a file that only the user can read; others see a command line."""

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
    """While it lasts, pyspark starts a JVM with these settings, and with the user's own arguments as ever.

    The launcher still puts memory, Java options and class path of the driver (`spark.driver.…`) on Java's
    command line, as Java takes them nowhere else. Spark trims the values: the context is given them again.
    Raises: OSError if a file that the user's arguments name cannot be read.
    """
    arguments, theirs = _without_file(shlex.split(os.environ.get(_ARGUMENTS, "pyspark-shell")))
    text = properties_text(settings).encode("ascii")
    if theirs is None:
        arguments = [
            "--load-spark-defaults",
            *arguments,
        ]  # else a file takes the place of spark-defaults.conf
    else:
        text = (
            Path(theirs).read_bytes() + b"\n\n" + text
        )  # of two files Spark would read one; the last value wins
    with tempfile.TemporaryDirectory(prefix="sparkivm-") as private:  # nobody else may enter it
        path = os.path.join(private, "spark.properties")
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(text)
        with variable(_ARGUMENTS, shlex.join([_OPTION, path, *arguments])):
            yield


def properties_text(settings: Mapping[str, str]) -> str:
    """Settings as Java's properties, in ASCII."""
    return "".join(f"{_escaped(key)}={_escaped(value)}\n" for key, value in settings.items())


def _escaped(text: str) -> str:
    """Letters and digits as they are, anything else by its UTF-16 units."""
    return "".join(one if one in _PLAIN else _by_units(one) for one in text)


def _by_units(character: str) -> str:
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[at : at + 2].hex()}" for at in range(0, len(data), 2))


def _without_file(arguments: list[str]) -> tuple[list[str], str | None]:
    """Arguments of spark-submit without `--properties-file`, and the file that the last of them names."""
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
