"""Parameters of tests of which every run tries the same few, and `make nightly` tries all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def few_of(every: Iterable[Any], at_each_run: Collection[Any]) -> list[Any]:
    """All of them, those that are not tried at each run marked as nightly."""
    values = list(every)
    assert all(value in values for value in at_each_run), at_each_run
    return [
        value
        if value in at_each_run
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.nightly)
        for value in values
    ]
