"""Test parameters: every run uses the same few, `make nightly` uses all."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def few_of(every: Iterable[Any], at_each_run: Collection[Any]) -> list[Any]:
    """All values; those outside `at_each_run` are marked nightly."""
    values = list(every)
    assert all(value in values for value in at_each_run), at_each_run
    return [
        value
        if value in at_each_run
        else pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.nightly)
        for value in values
    ]
