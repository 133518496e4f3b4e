"""What all drivers share: the catalog with its tables and views, and the clock of commits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from sparkivm.engine import EngineError, Field
from sparkivm.names import TableName
from tests.fake_engine.database import Database
from tests.fake_engine.delta_table import DeltaTable

_SECOND_MS = 1000
_SMALL_BYTES = 1000
DATABASE = Database()  # contents never change, so all lakes share it


@dataclass(frozen=True)
class View:
    """`settings` are those of the session that created it; names in `text` belong to `schema`."""

    name: TableName
    text: str
    fields: tuple[Field, ...]
    schema: str
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    temporary: bool = False


@dataclass(frozen=True)
class OtherTable:
    """A table of another format, without versions."""

    name: TableName
    provider: str
    fields: tuple[Field, ...]
    content: str
    properties: Mapping[str, str] = field(default_factory=dict)


Relation = DeltaTable | View | OtherTable


class Lake:
    """Relations by their keys. A fork starts with the same ones and shares no later changes."""

    def __init__(self) -> None:
        self.database = DATABASE
        self.relations: dict[str, Relation] = {}
        self.kept: dict[str, str] = {}  # global temporary views, with the tables that hold their rows
        self.files: dict[str, DeltaTable] = {}  # of tables with a location
        self.functions: set[str] = set()  # users' functions, in lower case
        self.sizes: dict[str, int | None] = {}  # the bytes that tables report
        self.clock_ms = int(time.time() * 1000)  # of commits
        self.ahead_ms = 0  # how far the queries' time is ahead of the clock

    def fork(self) -> Lake:
        twin = Lake()
        twin.relations = {
            key: relation.fork() if isinstance(relation, DeltaTable) else relation
            for key, relation in self.relations.items()
        }
        placed = (one for one in twin.relations.values() if isinstance(one, DeltaTable) and one.location)
        twin.files = {path: table.fork() for path, table in self.files.items()}
        twin.files |= {one.location: one for one in placed}
        twin.kept, twin.sizes = dict(self.kept), dict(self.sizes)
        twin.functions = set(self.functions)
        twin.clock_ms, twin.ahead_ms = self.clock_ms, self.ahead_ms
        return twin

    def tick(self) -> int:
        """Advance the clock. Returns the next commit's time."""
        self.clock_ms += _SECOND_MS
        return self.clock_ms

    @property
    def now(self) -> str:
        """The date and time that queries see."""
        return datetime.fromtimestamp((self.clock_ms + self.ahead_ms) / 1000, timezone.utc).strftime(
            "%Y-%m-%d %H:%M:%S"
        )

    def find(self, name: TableName) -> Relation:
        """Raises: EngineError if there is no such relation."""
        found = self.relations.get(name.key)
        if found is None:
            raise not_found(name)
        return found

    def delta(self, name: TableName) -> DeltaTable:
        found = self.find(name)
        if not isinstance(found, DeltaTable):
            raise EngineError(f"[DELTA_TABLE_ONLY_OPERATION] {name} is not a Delta table")
        return found

    def add(self, relation: Relation) -> None:
        self.relations[relation.name.key] = relation

    def drop(self, name: TableName) -> None:
        del self.relations[name.key]

    def rename(self, old: TableName, new: TableName) -> None:
        if new.key in self.relations:
            raise already_there(new)
        relation = self.find(old)
        self.drop(old)
        self.add(replace(relation, name=new))

    def names_like(self, prefix: TableName) -> list[TableName]:
        """Tables and views of a schema whose names begin with this."""
        return [
            relation.name
            for relation in self.relations.values()
            if (relation.name.schema.lower(), relation.name.catalog)
            == (prefix.schema.lower(), prefix.catalog)
            and relation.name.identifier.lower().startswith(prefix.identifier.lower())
        ]

    def size_of(self, name: TableName) -> int | None:
        return self.sizes.get(name.key, _SMALL_BYTES)


def not_found(name: TableName) -> EngineError:
    return EngineError(f"[TABLE_OR_VIEW_NOT_FOUND] {name}", "TABLE_OR_VIEW_NOT_FOUND")


def already_there(name: TableName) -> EngineError:
    return EngineError(f"[TABLE_OR_VIEW_ALREADY_EXISTS] {name}", "TABLE_OR_VIEW_ALREADY_EXISTS")
