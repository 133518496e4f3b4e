"""An engine that fails at one statement of a refresh, as drivers, networks and resending clients do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pyspark.sql import SparkSession

from sparkivm.engine import Commit, EngineError, Field, RelationFacts, Row
from sparkivm.names import TableName
from tests.plain_engine import PlainEngine

What = Literal["killed before", "killed after", "executed twice", "answer lost"]
FAULTS: tuple[What, ...] = get_args(What)


@dataclass(frozen=True)
class Fault:
    """A kind of fault and the statement at which it happens, counted from 0."""

    what: What
    at: int

    def __str__(self) -> str:
        return f"{self.what} statement {self.at + 1}"


class Killed(BaseException):
    """The driver is dead: nothing more of it reaches Spark, not even cleanup."""


class FaultyEngine(PlainEngine):
    """`statements`: all statements sent, including queries; `happened`: whether the fault occurred."""

    def __init__(self, spark: SparkSession, fault: Fault | None = None) -> None:
        self.statements: list[str] = []
        self.happened = False
        self._fault, self._dead = fault, False
        super().__init__(spark)

    def query(self, sql: str) -> Sequence[Row]:
        self._still_alive()
        number = len(self.statements)
        self.statements.append(sql)
        if self._fault is None or number != self._fault.at:
            return super().query(sql)
        self.happened = True
        if self._fault.what == "killed before":
            self._die()
        rows = super().query(sql)
        if self._fault.what == "killed after":
            self._die()
        if self._fault.what == "answer lost":
            raise EngineError("the connection was lost before the answer came")
        return super().query(sql) if self._fault.what == "executed twice" else rows

    def _die(self) -> None:
        self._dead = True
        raise Killed

    def _still_alive(self) -> None:
        if self._dead:
            raise Killed

    # Everything else that a refresh asks Spark

    def describe(self, name: TableName) -> RelationFacts | None:
        self._still_alive()
        return super().describe(name)

    def commits(self, name: TableName, after: int) -> Sequence[Commit]:
        self._still_alive()
        return super().commits(name, after)

    def schema_of(self, sql: str) -> tuple[Field, ...]:
        self._still_alive()
        return super().schema_of(sql)

    def analyzed_plan(self, sql: str) -> str:
        self._still_alive()
        return super().analyzed_plan(sql)

    def render(self, macro: str, **arguments: Any) -> str:
        self._still_alive()
        return super().render(macro, **arguments)

    def set(self, settings: Mapping[str, str]) -> None:
        self._still_alive()
        super().set(settings)

    def unset(self, settings: Sequence[str]) -> None:
        self._still_alive()
        super().unset(settings)
