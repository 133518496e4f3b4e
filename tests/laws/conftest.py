"""The worlds that all laws are tried on."""

from __future__ import annotations

import pytest

from tests.laws.worlds import Worlds
from tests.seeds import seed


@pytest.fixture(scope="session")
def worlds() -> Worlds:
    return Worlds(seed("laws"), 200)


@pytest.fixture(scope="session")
def law_seed() -> int:
    """For laws that make worlds of their own."""
    return seed("laws")
