"""The worlds that all laws are tried on."""

from __future__ import annotations

import os
import random

import pytest

from tests.laws.worlds import Worlds

_SEED = int(os.environ.get("SPARKIVM_LAWS_SEED", random.SystemRandom().randrange(10**9)))


@pytest.fixture(scope="session")
def worlds() -> Worlds:
    print(f"\nlaws: SPARKIVM_LAWS_SEED={_SEED}")
    return Worlds(_SEED, 200)
