"""The directory of a Spark inside dbt (catalog, warehouse, log): if we create it, nobody else can read it."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def make_private(directory: Path) -> None:
    """Create a directory that only its owner can enter and git ignores; an existing one is unchanged."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
        (directory / ".gitignore").write_text("*\n")


@contextmanager
def private_file(path: Path) -> Generator[BinaryIO, None, None]:
    """A file to write from its beginning, which only its owner can read.

    Raises: OSError if it is a link, or somebody else's: others may be able to write to the directory.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid() or not stat.S_ISREG(found.st_mode):
            raise PermissionError(f"{path} is not a regular file of this user")
        os.fchmod(file.fileno(), 0o600)  # an earlier version left it readable
        file.truncate()
        yield file


def read_own(path: Path) -> bytes:
    """The content of a file that this user wrote and nobody else can write to.

    Raises: OSError if it is missing, a link, or somebody else's.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        found = os.fstat(file.fileno())
        others = stat.S_IWGRP | stat.S_IWOTH
        if found.st_uid != os.geteuid() or not stat.S_ISREG(found.st_mode) or found.st_mode & others:
            raise PermissionError(f"{path} is not a regular file that only this user can write to")
        return file.read()
