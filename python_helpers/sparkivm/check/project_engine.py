"""An engine for which the relations of a project are what its texts say, built or not.

Spark analyses a query with a subquery of the right columns in place of each such relation (decision 036).

tested  tests/check/test_check_model.py, tests/dbt/test_check.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from sparkivm.check.written_out import written_out
from sparkivm.engine import Engine, EngineError, Field, RelationFacts, Row
from sparkivm.errors import InternalError
from sparkivm.names import TableName, quoted
from sparkivm.refresh.session.recording_engine import RecordingEngine

T = TypeVar("T")
_EXPLAIN = "explain "


class ProjectEngine(RecordingEngine):
    """Reads metadata and analyses queries; refuses to execute anything."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._built: dict[str, RelationFacts] = {}  # by key
        self._identifiers: set[str] = set()

    def connected_by(self, engine: Engine) -> ProjectEngine:
        """The same project over another connection."""
        other = ProjectEngine(engine)
        other._built, other._identifiers = self._built, self._identifiers
        return other

    def add(self, relations: Iterable[RelationFacts]) -> None:
        """Relations that the project makes."""
        for facts in relations:
            self._built[facts.name.key] = facts
            self._identifiers.add(facts.name.identifier.lower())

    def made(self, name: TableName) -> RelationFacts | None:
        """A relation that the project makes."""
        return self._of_project(name.parts)

    def in_catalog(self, name: TableName) -> RelationFacts | None:
        """The relation that is there now, whatever the project makes."""
        return super().describe(name)

    def describe(self, name: TableName) -> RelationFacts | None:
        return self.made(name) or super().describe(name)

    def describe_all(self, names: Sequence[TableName]) -> Sequence[RelationFacts | None]:
        return [self.describe(name) for name in names]

    def invalidate(self, name: TableName) -> None:
        if self.made(name) is None:
            super().invalidate(name)

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        return self._analysed(sql, super().schema_of)

    def analyzed_plan(self, sql: str) -> str:
        return self._analysed(sql, super().analyzed_plan)

    def optimized_plan(self, sql: str) -> str:
        return self._analysed(sql, super().optimized_plan)

    def query(self, sql: str) -> Sequence[Row]:
        if not sql.startswith(_EXPLAIN):
            raise InternalError(f"a check would run: {sql}")
        ask = super().query
        return self._analysed(sql.removeprefix(_EXPLAIN), lambda text: ask(_EXPLAIN + text))

    def execute(self, sql: str) -> None:
        raise InternalError(f"a check would execute: {sql}")

    def execute_quietly(self, sql: str) -> None:
        self.execute(sql)

    def _analysed(self, sql: str, ask: Callable[[str], T]) -> T:
        text = sql.lower()
        if not any(identifier in text for identifier in self._identifiers):
            return ask(sql)
        written = written_out(sql, self._subquery_of)
        try:
            return ask(written.text)
        except EngineError as error:
            raise written.in_original(error) from None

    def _subquery_of(self, parts: tuple[str, ...]) -> str | None:
        facts = self._of_project(parts)
        return None if facts is None else _without_rows(facts.fields)

    def _of_project(self, parts: tuple[str, ...]) -> RelationFacts | None:
        if parts[-1].lower() not in self._identifiers:
            return None
        if len(parts) == 1:
            parts = (self.namespace()[-1], *parts)
        elif len(parts) == 3 and parts[0] == self.namespace()[0]:
            parts = parts[1:]
        *catalog, schema, identifier = parts
        return self._built.get(TableName(schema, identifier, catalog[0] if catalog else None).key)


def _without_rows(fields: Sequence[Field]) -> str:
    """A subquery with these columns, on one line. Spark does not look at its values."""
    columns = (f"cast(null as {field.spark_type.cast_text}) as {quoted(field.name)}" for field in fields)
    return f"(select {', '.join(columns)})"
