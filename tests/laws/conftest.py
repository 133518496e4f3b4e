"""The worlds that all laws are tried on."""

from __future__ import annotations

import pytest

from tests.laws.worlds import Worlds
from tests.seeds import seed

_SEED = seed("SPARKIVM_LAWS_SEED")


@pytest.fixture(scope="session")
def worlds() -> Worlds:
    print(f"\nlaws: SPARKIVM_LAWS_SEED={_SEED}")
    return Worlds(_SEED, 200)


@pytest.fixture(scope="session")
def law_seed() -> int:
    """For laws that make worlds of their own."""
    return _SEED
