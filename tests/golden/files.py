"""Compares a text with a file, which `--rewrite` writes again."""

from __future__ import annotations

from pathlib import Path

import pytest


def compare(found: str, file: Path, config: pytest.Config) -> None:
    if config.getoption("--rewrite"):
        file.write_text(found)
    assert found == file.read_text(), "run `make golden` and review the diff"
