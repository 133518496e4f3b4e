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


def open_own(path: Path, flags: int, *, forbidden: int = 0) -> int:
    """The descriptor of a file of this user, opened with flags of `os.open`. A new one is private.

    forbidden  permissions that the group and others must not have
    Raises: OSError if it is a link or somebody else's: others may be able to write to the directory.
    """
    file = os.open(path, flags | os.O_NOFOLLOW, 0o600)
    found = os.fstat(file)
    if found.st_uid != os.geteuid() or not stat.S_ISREG(found.st_mode) or found.st_mode & forbidden:
        os.close(file)
        raise PermissionError(f"{path} is not a regular file of this user alone; delete it")
    return file


@contextmanager
def private_file(path: Path) -> Generator[BinaryIO, None, None]:
    """A file to write from its beginning, which only its owner can read. Raises: OSError as open_own."""
    with os.fdopen(open_own(path, os.O_WRONLY | os.O_CREAT), "wb") as file:
        os.fchmod(file.fileno(), 0o600)  # an earlier version left it readable
        file.truncate()
        yield file


def read_own(path: Path) -> bytes:
    """The content of a file that this user wrote and nobody else can write to.

    Raises: OSError as open_own, or if it is missing.
    """
    with os.fdopen(open_own(path, os.O_RDONLY, forbidden=stat.S_IWGRP | stat.S_IWOTH), "rb") as file:
        return file.read()
