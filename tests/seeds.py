"""Seeds of tests that draw what they try: all follow from the one number that pytest prints at its beginning."""

from __future__ import annotations

import os
import random


def seed(variable: str) -> int:
    """The seed that the environment gives under this name, else one that no other run has.

    Processes that share a run have the same, as they have to collect the same tests.
    """
    given, draw = os.environ.get(variable), os.environ["SPARKIVM_DRAW"]
    if given:
        return int(given)
    return (random.Random(f"{draw} {variable}") if draw.isdigit() else random.SystemRandom()).randrange(10**9)
