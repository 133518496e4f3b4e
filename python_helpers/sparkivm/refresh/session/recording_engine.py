"""An engine that records what a refresh does: its statements, its warnings, the time that Spark takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from sparkivm.engine import Commit, Engine, Field, RelationFacts, Row
from sparkivm.formats.state_format import Write
from sparkivm.names import TableName

T = TypeVar("T")


class RecordingEngine(Engine):
    """Forwards every call.

    statements  that were executed, in order; not those of `execute_quietly`
    warnings    for the user
    waited_s    seconds in Spark and the catalog; the rest of a refresh is Python's share
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.statements: list[str] = []
        self.warnings: list[str] = []
        self.waited_s = 0.0

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def run(self, macro: str, **arguments: Any) -> Sequence[Row]:
        """Render a statement and execute it."""
        return self.execute(self.render(macro, **arguments))

    def write(self, write: Write) -> Sequence[Row]:
        return self.run(write.macro, **write.arguments)

    def execute_quietly(self, sql: str) -> None:
        """Execute a statement without recording it; its effects end with the refresh."""
        self._timed(lambda: self._engine.execute(sql))

    def _timed(self, call: Callable[[], T]) -> T:
        started = time.perf_counter()
        try:
            return call()
        finally:
            self.waited_s += time.perf_counter() - started

    def query(self, sql: str) -> Sequence[Row]:
        return self._timed(lambda: self._engine.query(sql))

    def execute(self, sql: str) -> Sequence[Row]:
        self.statements.append(sql)
        return self._timed(lambda: self._engine.execute(sql))

    def render(self, macro: str, **arguments: Any) -> str:
        return self._engine.render(macro, **arguments)

    def describe(self, name: TableName) -> RelationFacts | None:
        return self._timed(lambda: self._engine.describe(name))

    def describe_all(self, names: Sequence[TableName]) -> Sequence[RelationFacts | None]:
        return self._timed(lambda: self._engine.describe_all(names))

    def invalidate(self, name: TableName) -> None:
        self._timed(lambda: self._engine.invalidate(name))

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        return self._timed(lambda: self._engine.commits(name, after))

    def names_like(self, prefix: TableName) -> Sequence[TableName]:
        return self._timed(lambda: self._engine.names_like(prefix))

    def properties_at(self, location: str) -> Mapping[str, str] | None:
        return self._timed(lambda: self._engine.properties_at(location))

    def check_files(self, table: RelationFacts) -> None:
        self._timed(lambda: self._engine.check_files(table))

    def expect_commit(self, table: TableName) -> None:
        self._timed(lambda: self._engine.expect_commit(table))

    def substituted(self, sql: str) -> str:
        return self._timed(lambda: self._engine.substituted(sql))

    def check_query(self, sql: str) -> None:
        self._timed(lambda: self._engine.check_query(sql))

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        return self._timed(lambda: self._engine.schema_of(sql))

    def analyzed_plan(self, sql: str) -> str:
        return self._timed(lambda: self._engine.analyzed_plan(sql))

    def optimized_plan(self, sql: str) -> str:
        return self._timed(lambda: self._engine.optimized_plan(sql))

    def namespace(self) -> tuple[str, ...]:
        return self._timed(lambda: self._engine.namespace())

    def variables(self, names: Collection[str]) -> frozenset[str]:
        return self._timed(lambda: self._engine.variables(names))

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        return self._timed(lambda: self._engine.foreign_functions(names))

    def set(self, settings: Mapping[str, str]) -> None:
        self._timed(lambda: self._engine.set(settings))

    def unset(self, settings: Sequence[str]) -> None:
        self._timed(lambda: self._engine.unset(settings))

    def settings(self, names: Sequence[str]) -> Mapping[str, str]:
        return self._timed(lambda: self._engine.settings(names))
