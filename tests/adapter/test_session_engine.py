"""Relations are described in several threads, of which only the caller's has a connection for SQL."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest
from dbt.adapters.sparkivm.session_engine import SessionEngine

from sparkivm.engine import EngineError, RelationFacts
from sparkivm.names import TableName


class Engine(SessionEngine):
    """`by_sql` and `gone` need a connection."""

    def __init__(self):
        self._connection = SimpleNamespace(prepare=lambda: None)
        self._caller = threading.get_ident()

    def describe(self, name):
        if name.identifier == "by_sql" and threading.get_ident() != self._caller:
            raise EngineError("connection never acquired for thread")
        if name.identifier == "refused":
            raise EngineError("not allowed")
        return None if name.identifier == "gone" else RelationFacts(name, "other", ())


def names(*identifiers):
    return [TableName("s", identifier) for identifier in identifiers]


def test_what_needs_sql_is_described_by_the_caller():
    asked = names("a", "by_sql", "gone")
    found = Engine().describe_all(asked)
    assert [facts and facts.name for facts in found] == [*asked[:2], None]


def test_an_error_that_has_other_reasons():
    with pytest.raises(EngineError, match="not allowed"):
        Engine().describe_all(names("a", "refused"))
