"""What a run knows of a relation: what it saw first, until somebody is known to have seen another table."""

from __future__ import annotations

import threading
import time

import pytest

from sparkivm.engine import RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.names import TableName
from sparkivm.reasons import Reason
from sparkivm.refresh.sources.pins import Pins

NAME = TableName("s", "t")


def at(version: int) -> RelationFacts:
    return RelationFacts(NAME, "delta", (), version=version)


def test_the_first_look_counts():
    pins = Pins()
    assert [pins.facts(NAME, lambda _: at(1)), pins.facts(NAME, lambda _: at(2))] == [at(1), at(1)]


def test_a_relation_that_is_not_there_yet_is_looked_for_again():
    """The run may build it."""
    pins = Pins()
    assert pins.facts(NAME, lambda _: None) is None
    assert not pins.has(NAME)
    assert pins.facts(NAME, lambda _: at(0)) == at(0)


def test_a_table_that_a_view_knows_otherwise_is_looked_for_once():
    pins = Pins()
    pins.facts(NAME, lambda _: at(1))
    assert pins.forget_for(NAME, "another table")
    assert pins.facts(NAME, lambda _: at(2)) == at(2)
    assert not pins.forget_for(NAME, "another table")
    assert pins.facts(NAME, lambda _: at(3)) == at(2)
    assert pins.forget_for(NAME, "a third table")


def test_a_refusal_is_remembered():
    def refuses(name: TableName) -> RelationFacts:
        raise NotIncremental(Reason.SOURCE_NOT_SUPPORTED, "it has no history")

    pins = Pins()
    for read in (refuses, lambda _: at(1)):
        with pytest.raises(NotIncremental, match="it has no history"):
            pins.facts(NAME, read)


def test_of_two_threads_one_looks():
    """To bring a mirror up to date takes a while; the other waits for it."""
    pins, looks, may_go_on = Pins(), [], threading.Event()

    def read(name: TableName) -> RelationFacts:
        looks.append(name)
        assert may_go_on.wait(10)
        return at(len(looks))

    threads = [threading.Thread(target=pins.facts, args=(NAME, read)) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    may_go_on.set()
    for thread in threads:
        thread.join()
    assert looks == [NAME]
