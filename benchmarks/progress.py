"""Progress lines: the current step, then its duration."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def step(text: str) -> Iterator[None]:
    """Print `text …` at once and the elapsed seconds when the block ends."""
    print(f"{text} … ", end="", flush=True)
    started = time.perf_counter()
    try:
        yield
    except BaseException:
        print("failed", flush=True)
        raise
    print(f"{time.perf_counter() - started:.1f} s", flush=True)


def headline(text: str) -> None:
    """Print the title of a part after an empty line."""
    print(f"\n== {text}", flush=True)
