"""Settings over SQL: a statement runs with those it needs, and only those that differ are set and restored."""

from __future__ import annotations

import re
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from dbt.adapters.sparkivm.engine import AdapterEngine
from dbt.adapters.sparkivm.sql_settings import WHOLE_PLANS

from sparkivm.engine import session_with
from sparkivm.formats.state_format import AS_WE_WRITE

DEFAULTS = {
    "by.default": "1",
    "spark.sql.sources.partitionOverwriteMode": "STATIC",
    "spark.sql.storeAssignmentPolicy": "ANSI",
}  # as Spark 4.1 has them
SET = re.compile(r"set `([^`]+)`=`([^`]*)`")


class Server:
    """dbt's connection manager over a session that stores settings."""

    def __init__(self, **opened_with: str) -> None:
        self.values, self.ran = dict(opened_with), list[str]()
        self.handle = SimpleNamespace(opened_with=opened_with, default=DEFAULTS.get)

    def get_thread_connection(self) -> Any:
        return SimpleNamespace(handle=self.handle)

    def _add_query_comment(self, sql: str) -> str:
        return sql

    def exception_handler(self, sql: str) -> Any:
        return nullcontext()

    def add_query(self, sql: str, auto_begin: bool) -> tuple[None, Any]:
        self.ran.append(sql)
        if found := SET.fullmatch(sql):
            self.values[found[1]] = found[2]
        elif sql.startswith("reset "):
            self.values.pop(sql.split("`")[1], None)
        rows = list(self.values.items()) if sql == "set" else []
        return None, SimpleNamespace(fetchall=lambda: rows, description=[("key",), ("value",)])


@pytest.fixture
def server():
    return Server(**WHOLE_PLANS)


def statements_of(server: Server, settings: dict[str, str]) -> list[str]:
    """Those of a block that needs these settings. It has them, and leaves every value as it was."""
    engine: Any = AdapterEngine(SimpleNamespace(), server)  # type: ignore[arg-type]
    names, before = [*settings, *server.values], engine.settings([*settings, *server.values])
    server.ran.clear()
    with session_with(engine, settings):
        statements = server.ran[:]
        assert engine.settings(tuple(settings)) == settings
        server.ran.clear()
    statements += server.ran
    assert engine.settings(names) == before
    return statements


def test_a_setting_with_another_value_is_set_and_set_back(server):
    server.values["a"] = "mine"
    assert statements_of(server, {"a": "1"}) == ["set", "set `a`=`1`", "set `a`=`mine`"]


def test_a_setting_without_a_value_is_set_and_reset(server):
    assert statements_of(server, {"a": "1"}) == ["set", "set `a`=`1`", "reset `a`"]
    assert "a" not in server.values


def test_a_setting_with_another_default_is_set_and_set_back(server):
    assert statements_of(server, {"by.default": "2"}) == [
        "set", "set `by.default`=`2`", "set `by.default`=`1`",
    ]  # fmt: skip


def test_a_setting_that_has_its_value_is_left_alone(server):
    server.values["a"] = "1"
    assert statements_of(server, {"a": "1", "by.default": "1", **WHOLE_PLANS, **AS_WE_WRITE}) == ["set"]


def test_a_default_that_somebody_replaced_is_set_for_the_block(server):
    server.values["by.default"] = "2"
    assert statements_of(server, {"by.default": "1"}) == [
        "set", "set `by.default`=`1`", "set `by.default`=`2`",
    ]  # fmt: skip


def test_a_block_in_a_block_sets_only_what_it_adds(server):
    engine: Any = AdapterEngine(SimpleNamespace(), server)  # type: ignore[arg-type]
    with session_with(engine, {"a": "1", "b": "1"}):
        assert statements_of(server, {"a": "1", "c": "1"}) == ["set", "set `c`=`1`", "reset `c`"]
    assert server.values == WHOLE_PLANS
