"""Seeds of tests that draw what they try: all follow from SPARKIVM_SEED, which is the same at every run unless it is given."""

from __future__ import annotations

import os
import random

SEED = os.environ.get("SPARKIVM_SEED", "1")


def seed(name: str) -> int:
    """The seed of the tests that share this name."""
    return random.Random(f"{SEED} {name}").randrange(10**9)
