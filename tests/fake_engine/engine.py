"""The product's `Engine` over a lake, with events that a test inserts between its calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sparkivm.engine import Commit, Engine, EngineError, Field, RelationFacts, Row, as_written
from sparkivm.names import TableName
from tests.bare_macros import BareMacros
from tests.fake_engine.database import query_template, reprinted
from tests.fake_engine.delta_table import DeltaTable
from tests.fake_engine.lake import Lake, OtherTable, Relation, View
from tests.fake_engine.session import Session
from tests.fake_engine.statements import execute

When = Literal["before", "after"]
At = str | int | tuple[str, ...]
_MACROS = BareMacros()


class Killed(BaseException):
    """The driver is dead and does nothing more."""


@dataclass
class Event:
    """An event at statements that begin with a text, or with one of several, or at a statement number.

    times  for which it may still happen
    """

    when: When
    at: At
    action: Callable[[], object]
    times: int
    happened: bool = False

    def is_due(self, when: When, number: int, sql: str) -> bool:
        here = number == self.at if isinstance(self.at, int) else sql.lower().startswith(self.at)
        return self.times > 0 and self.when == when and here


class FakeEngine(Engine):
    """One driver.

    ran      the executed statements, in order
    refuses  text → error: Spark refuses a query that contains the text
    reads_as  query text → Spark's plan of exactly this text
    shows     text → the columns that Spark sees in a query that contains the text
    moving    texts that Spark casts to dates
    histories  tables whose commits were asked for, in order
    by_sql     whether it knows a table's newest commit from the description, as over SQL
    expected   events that tests have set, for all drivers
    """

    expected: ClassVar[list[Event]] = []
    by_sql = False

    def __init__(self, lake: Lake, schema: str) -> None:
        self.lake, self.session = lake, Session(lake, schema)
        self.ran: list[str] = []
        self.asked: list[str] = []
        self.histories: list[str] = []
        self.refuses: dict[str, EngineError] = {}
        self.reads_as: dict[str, str] = {}
        self.shows: dict[str, tuple[Field, ...]] = {}
        self.moving: set[str] = set()
        self.lost: set[str] = set()
        self._events: list[Event] = []
        self._dead = False

    # set by a test

    def before(self, at: At, action: Callable[[], object], times: int = 1) -> None:
        """Do something before a statement. `at`: the statement's first words, or its number from 1."""
        self._expect(Event("before", at, action, times))

    def after(self, at: At, action: Callable[[], object], times: int = 1) -> None:
        """Do something after a statement ran, before its answer arrives."""
        self._expect(Event("after", at, action, times))

    def fails(self, at: At, message: str, *, when: When = "before", times: int = 1) -> None:
        """A statement fails, or it runs and its answer is lost."""

        def fail() -> None:
            raise error_of(message)

        self._expect(Event(when, at, fail, times))

    def is_killed(self, at: At, when: When) -> None:
        """The driver dies at a statement."""

        def kill() -> None:
            self._dead = True
            raise Killed

        self._expect(Event(when, at, kill, 1))

    # Engine

    def query(self, sql: str) -> Sequence[Row]:
        self._check(sql)
        self.asked.append(sql)
        with as_written(self, sql):
            return self.session.rows(sql)

    def execute(self, sql: str) -> Sequence[Row]:
        self._check(sql)
        self.ran.append(sql)
        number = len(self.ran)
        self._happen("before", number, sql)
        with as_written(self, sql):
            rows = execute(self.session, sql)
        self._happen("after", number, sql)
        return rows

    def render(self, macro: str, **arguments: Any) -> str:
        return _MACROS.render(macro, **arguments)

    def describe(self, name: TableName) -> RelationFacts | None:
        self._check()
        self._check_catalog(name)
        temporary = self.session.temporary.get(name.identifier) if not name.schema else None
        if isinstance(temporary, View):
            return self._facts(temporary)
        if not name.schema:
            name = TableName(self.session.schema, name.identifier, name.catalog)
        found = self.lake.relations.get(name.key)
        return None if found is None else self._facts(found)

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        self._check()
        self.histories.append(name.identifier)
        return [commit for commit in self.lake.delta(name).history if commit.version > after]

    def names_like(self, prefix: TableName) -> Sequence[TableName]:
        self._check()
        self._check_catalog(prefix)
        return self.lake.names_like(prefix)

    def properties_at(self, location: str) -> Mapping[str, str] | None:
        self._check()
        found = self.lake.files.get(location)
        return None if found is None else found.newest.properties

    def check_files(self, table: RelationFacts) -> None:
        self._check()
        self.lake.delta(table.name).at(table.version)

    def expect_commit(self, table: TableName) -> None:
        self._check()

    def substituted(self, sql: str) -> str:
        self._check()
        return self.session.substituted(sql)

    def check_query(self, sql: str) -> None:
        self._check(sql)
        query_template(sql)

    def namespace(self) -> tuple[str, ...]:
        self._check()
        return "spark_catalog", self.session.schema

    def variables(self, names: Collection[str]) -> frozenset[str]:
        self._check()
        return self.session.variables.intersection(names)

    def foreign_functions(self, names: Collection[str]) -> frozenset[str]:
        self._check()
        return self.lake.functions.intersection(names)

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        self._check(sql)
        shown = next((fields for text, fields in self.shows.items() if text in sql), None)
        return self.session.fields(sql) if shown is None else shown

    def analyzed_plan(self, sql: str) -> str:
        """The text as another parser prints it, so that a misread text is noticed."""
        self._check(sql)
        if sql in self.reads_as:
            return self.reads_as[sql]
        self.session.fields(sql)  # raises if it is not a query
        return reprinted(sql)

    def optimized_plan(self, sql: str) -> str:
        plan = self.analyzed_plan(sql)
        for text in self.moving:
            plan = plan.replace(f"'{text}'", "2026-01-15")
        return plan

    def set(self, settings: Mapping[str, str]) -> None:
        self._check()
        self.session.settings.update(settings)

    def unset(self, settings: Sequence[str]) -> None:
        self._check()
        for name in settings:
            self.session.settings.pop(name, None)

    def settings(self, names: Sequence[str]) -> Mapping[str, str]:
        self._check()
        values = {name: self.session.setting(name) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    def _expect(self, event: Event) -> None:
        self._events.append(event)
        self.expected.append(event)

    def _check(self, sql: str = "") -> None:
        if self._dead:
            raise Killed
        for text, error in self.refuses.items():
            if text in sql:
                raise error

    def _check_catalog(self, name: TableName) -> None:
        """Spark takes the name of an unknown catalog for a part of the schema's name."""
        if name.catalog in self.lost:
            raise error_of(f"[REQUIRES_SINGLE_PART_NAMESPACE] {name}")

    def _happen(self, when: When, number: int, sql: str) -> None:
        for event in self._events:
            if event.is_due(when, number, sql):
                event.times, event.happened = event.times - 1, True
                event.action()

    def _facts(self, relation: Relation) -> RelationFacts:
        match relation:
            case View():
                return RelationFacts(
                    relation.name,
                    "view",
                    relation.fields,
                    properties=relation.properties,
                    view_text=relation.text,
                    comment=relation.comment,
                    view_namespace=("spark_catalog", relation.schema),
                    view_settings=relation.settings,
                    temporary=relation.temporary,
                )
            case OtherTable():
                return RelationFacts(
                    relation.name,
                    "other",
                    relation.fields,
                    properties=relation.properties,
                    provider=relation.provider,
                )
            case DeltaTable():
                newest = relation.newest
                return RelationFacts(
                    relation.name,
                    "delta",
                    newest.fields,
                    table_id=newest.table_id,
                    version=newest.number,
                    commit_id=newest.commit.id,
                    described_commit=newest.commit if self.by_sql else None,
                    size_bytes=self.lake.size_of(relation.name),
                    files=1,
                    properties=newest.properties,
                    partition_columns=relation.partition_columns,
                    provider="delta",
                )


def error_of(message: str) -> EngineError:
    """A Spark error; its class is at the front of the message, in brackets."""
    condition = message[1 : message.index("]")] if message.startswith("[") else ""
    return EngineError(message, condition)
