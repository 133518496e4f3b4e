"""Seeds of randomized tests: all derive from SPARKIVM_SEED, which is the same in every run unless it is set."""

from __future__ import annotations

import os
import random

DEFAULT_SEED = "1"
SEED = os.environ.get("SPARKIVM_SEED", DEFAULT_SEED)


def seed(name: str) -> int:
    """The seed shared by all tests that use this name."""
    return random.Random(f"{SEED} {name}").randrange(10**9)
