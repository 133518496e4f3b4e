"""What the threads of a run keep in memory: each once, and no thread waits for rows that it does not need."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from sparkivm.engine import Engine, EngineError
from sparkivm.refresh.changed_rows.run_memory import RunMemory

A, B = ("a", 1), ("b", 1)
X, XY = frozenset({"x"}), frozenset({"x", "y"})


class Maker:
    """Makes a relation when it is told to go on."""

    def __init__(self, error: EngineError | None = None) -> None:
        self.began, self.may_go_on, self.error, self.made = threading.Event(), threading.Event(), error, []

    def __call__(self, name: str) -> list[str]:
        self.began.set()
        assert self.may_go_on.wait(10)
        if self.error:
            raise self.error
        self.made.append(name)
        return [name]


class Dropping(Engine):
    def __init__(self) -> None:
        self.dropped: list[str] = []

    def render(self, macro, **arguments):
        return arguments["view"]

    def execute(self, sql):
        self.dropped.append(sql)


@pytest.fixture
def threads():
    with ThreadPoolExecutor(3) as pool:
        yield pool


def begun(
    threads: ThreadPoolExecutor, memory: RunMemory, key: tuple[str | int, ...], make: Maker
) -> Future[str]:
    """The future result of a thread that makes these rows now."""
    found = threads.submit(memory.find, key, X, make)
    assert make.began.wait(10)
    return found


def test_other_rows_are_made_at_the_same_time(threads):
    memory, slow = RunMemory(), Maker()
    first = begun(threads, memory, A, slow)
    other = threads.submit(memory.find, B, X, lambda name: [name]).result(10)
    assert not first.done()
    assert memory.known(B, X) == other
    slow.may_go_on.set()
    assert len({first.result(10), other}) == len(memory) == 2


@pytest.mark.parametrize(("fields", "times"), [(X, 1), (XY, 2)])
def test_the_same_rows_are_made_once_for_the_same_columns(threads, fields, times):
    memory, make = RunMemory(), Maker()
    first = begun(threads, memory, A, make)
    second = threads.submit(memory.find, A, fields, make)
    make.may_go_on.set()
    assert len({first.result(10), second.result(10)}) == len(make.made) == times


def test_a_refusal_is_raised_once(threads):
    """Each one becomes a warning."""
    memory, makers = RunMemory(), [Maker(EngineError("no")), Maker(EngineError("no"))]
    found = [begun(threads, memory, key, make) for key, make in zip((A, B), makers, strict=True)]
    for make in makers:
        make.may_go_on.set()
    errors = [future.exception(10) for future in found]
    assert sorted(map(str, filter(None, errors))) == ["no"]
    assert [future.result() for future, error in zip(found, errors, strict=True) if not error] == [""]
    assert memory.find(("c",), X, Maker()) == ""


def test_what_is_still_being_made_is_dropped(threads):
    memory, make, engine = RunMemory(), Maker(), Dropping()
    first = begun(threads, memory, A, make)
    end = threads.submit(memory.drop, engine)
    make.may_go_on.set()
    end.result(10)
    assert engine.dropped == [first.result(10)]
    assert not memory
