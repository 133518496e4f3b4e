"""`pytest tests/golden --rewrite` writes the plans anew; then read the diff."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write the golden files instead of comparing")
