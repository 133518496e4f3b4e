"""The laboratory that most of these tests use: one table, one view of its groups."""

from __future__ import annotations

import time

import pytest

from tests.refresh.lab import Lab, View

BY_K = "select k, count(*) as n, sum(x) as s from t group by k"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two tries a refresh waits for its rival, who is done here."""
    monkeypatch.setattr(time, "sleep", lambda _: None)


@pytest.fixture
def lab() -> Lab:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)")
    return lab


@pytest.fixture
def view(lab: Lab) -> View:
    return lab.view("m", BY_K).build()
