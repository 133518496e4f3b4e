"""Which of the 99 queries a test run takes."""

from __future__ import annotations

import os
import random


def drawn(seed: int, how_many: int) -> list[int]:
    """As many as SPARKIVM_TPCDS_QUERIES says, or the very ones that it lists; `how_many` without it."""
    asked = os.environ.get("SPARKIVM_TPCDS_QUERIES", str(how_many))
    if "," in asked:
        return sorted(int(number) for number in asked.split(",") if number)
    return sorted(random.Random(seed).sample(range(1, 100), int(asked)))
