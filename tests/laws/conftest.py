"""The worlds on which all laws are tested."""

from __future__ import annotations

import pytest

from tests.laws.worlds import Worlds
from tests.seeds import seed


@pytest.fixture(scope="session")
def worlds() -> Worlds:
    return Worlds(seed("laws"), 200)


@pytest.fixture(scope="session")
def law_seed() -> int:
    """The seed for laws that make worlds of their own."""
    return seed("laws")
