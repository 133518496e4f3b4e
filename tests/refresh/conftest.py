"""The laboratory for most of these tests: one table and one grouped view."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.fake_engine.engine import FakeEngine
from tests.fake_engine.lake import DATABASE
from tests.refresh.lab import MAPPED, Lab, View

BY_K = "select k, count(*) as n, sum(x) as s from t group by k"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two attempts a refresh waits for its rival; here the rival has already finished."""
    monkeypatch.setattr(time, "sleep", lambda _: None)


@pytest.fixture(autouse=True)
def some_event_happens() -> Iterator[None]:
    """A test whose events never happen tests nothing."""
    FakeEngine.expected.clear()
    yield
    events = [(event.when, event.at) for event in FakeEngine.expected]
    happened = any(event.happened for event in FakeEngine.expected)
    assert happened or not events, f"no statement was executed for {events}"


@pytest.fixture(autouse=True, scope="module")
def memory() -> Iterator[None]:
    """Release the rows of a module's tables after the module."""
    first = DATABASE.new_name()
    yield
    DATABASE.release(first)


def one_table() -> Lab:
    lab = Lab()
    lab.table("t", "id int, k int, x int", "(1, 1, 1)", "(2, 1, 2)", "(3, 2, 4)", clauses=MAPPED)
    return lab


@pytest.fixture(scope="module")
def built() -> Lab:
    """A laboratory with the view built, to be forked."""
    lab = one_table()
    lab.view("m", BY_K).build()
    return lab


@pytest.fixture
def lab(request: pytest.FixtureRequest) -> Lab:
    if "view" in request.fixturenames:
        return request.getfixturevalue("built").fork()
    return one_table()


@pytest.fixture
def view(lab: Lab) -> View:
    """The view, which `lab` has already built."""
    return lab.view("m", BY_K)
