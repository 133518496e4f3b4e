"""Rows that a run reads once, and keeps in Spark's memory for whatever asks for them again.

Delta is slow to begin. To resolve a change feed, list its files and start its job takes 0.2 to 0.4 s at each
place where a plan has it, whatever it holds; to list the files of a table takes 0.1 s. The views of a run
mostly read the same changes and the same small tables, and each of them several times.

So these are global temporary views, which the sessions of all threads see, with their rows cached when the
first statement reads them. Each is stored as the plan that Spark analysed, not as text: the text would be
resolved again at each use, and in another session not be found among what is cached.
"""

from __future__ import annotations

import re
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Mapping, MutableSequence, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

from sparkivm.changes.delta_texts import changed_rows
from sparkivm.changes.source_change import SourceChange
from sparkivm.engine import Engine, EngineError, RelationFacts
from sparkivm.names import RESERVED_PREFIX, quoted
from sparkivm.refresh.planning_settings import planned_for_changes

_STORED_AS_PLANS = {"spark.sql.legacy.storeAnalyzedPlanForView": "true"}
_FEWEST_USES = 2  # in the run; what is read once is not kept
# More changes than this are read where they are needed, and only in the columns that are needed.
_MOST_ROWS = 1_000_000
# Up to this many values, of all columns, all columns are kept, as the next view may read others.
_MOST_VALUES = 8_000_000
_SMALL_BYTES = 4 << 20  # of a table's files
_NOT_CACHED = re.compile(r"variant|void|interval|geo")  # types that Spark's cache may not know

_Key = tuple[str | int, ...]


@dataclass(frozen=True)
class _Kept:
    name: str
    fields: frozenset[str]


class Memory(Protocol):
    """Tells a view where rows of its sources are read; sources by their keys.

    uses  how often a plan reads them
    """

    def changes(self, table: str, change: SourceChange, uses: int) -> SourceChange: ...

    def rows(self, table: str, uses: int) -> str: ...


class NoMemory(Memory):
    """Everything is read where it is."""

    def changes(self, table: str, change: SourceChange, uses: int) -> SourceChange:
        return change

    def rows(self, table: str, uses: int) -> str:
        return ""


def may_keep_changes(change: SourceChange) -> bool:
    """Whether they are neither kept already nor too many."""
    return not change.kept and change.how != "none" and change.rows <= _MOST_ROWS


def may_keep_rows(source: RelationFacts) -> bool:
    return source.size_bytes is not None and source.size_bytes <= _SMALL_BYTES


class RunMemory:
    """What one run keeps. Safe to share among threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._nonce = uuid.uuid4().hex[:8]
        self._kept: dict[_Key, list[_Kept]] = {}
        self._uses: Counter[_Key] = Counter()
        self._refused = False

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def find(self, key: _Key, fields: frozenset[str], uses: int, make: Callable[[str], None]) -> str:
        """The relation that holds rows, "" if they are not kept.

        key     what the rows are
        fields  columns that have to be there
        uses    how often they are going to be read
        make    makes the relation of a name
        Raises: EngineError of `make`, once; nothing is kept after it.
        """
        with self._lock:
            self._uses[key] += uses
            kept = self._kept.setdefault(key, [])
            for one in kept:
                if one.fields >= fields:
                    return one.name
            if self._uses[key] < _FEWEST_USES or self._refused:
                return ""
            name = f"global_temp.{RESERVED_PREFIX}kept_{self._nonce}_{len(self) + 1}"
            try:
                make(name)
            except EngineError:
                self._refused = True
                raise
            kept.append(_Kept(name, fields))
            return name

    def drop(self, engine: Engine) -> None:
        """Give everything back; at the end of the run."""
        with self._lock:
            for one in chain.from_iterable(self._kept.values()):
                with suppress(EngineError):  # it has a name that nobody else will ask for
                    engine.execute(engine.render("drop_own_view", view=one.name))
            self._kept.clear()


@dataclass(frozen=True)
class ViewMemory(Memory):
    """The run's memory as one view uses it.

    tables  its sources
    read    the columns of each that it reads
    """

    run: RunMemory
    engine: Engine
    tables: Mapping[str, RelationFacts]
    read: Mapping[str, Collection[str]]
    statements: MutableSequence[str]
    warnings: MutableSequence[str]

    def changes(self, table: str, change: SourceChange, uses: int) -> SourceChange:
        if not may_keep_changes(change):
            return change
        source = self.tables[table]
        few = change.rows * len(source.fields) <= _MOST_VALUES
        fields = self._fields(table, every=few and change.scans == 0)
        key = (source.name.key, source.table_id, change.old, change.new)
        read_bytes = change.scans * (source.size_bytes or 0)
        return replace(
            change, kept=self._find(key, fields, uses, changed_rows(source.name, change, fields), read_bytes)
        )

    def rows(self, table: str, uses: int) -> str:
        source = self.tables[table]
        if not may_keep_rows(source):
            return ""
        fields = self._fields(table, every=True)
        select = (
            f"select {', '.join(map(quoted, fields))}\nfrom {source.name.sql} version as of {source.version}"
        )
        return self._find((source.name.key, source.table_id, source.version), fields, uses, select, 0)

    def _fields(self, table: str, *, every: bool) -> list[str]:
        """Columns to keep, in the table's order: those that the view reads, or every one that may be."""
        return [
            field.name
            for field in self.tables[table].fields
            if field.name in self.read[table] or (every and not _NOT_CACHED.search(field.type))
        ]

    def _find(self, key: _Key, fields: Sequence[str], uses: int, select: str, read_bytes: int) -> str:
        def make(name: str) -> None:
            with planned_for_changes(self.engine, read_bytes, _STORED_AS_PLANS):
                self._execute(self.engine.render("keep_in_memory", name=name, select=select))
                try:
                    self._execute(self.engine.render("cache_when_read", name=name))
                except EngineError:
                    self._execute(self.engine.render("drop_own_view", view=name))
                    raise

        try:
            return self.run.find(key, frozenset(fields), uses, make)
        except EngineError as error:
            self.warnings.append(f"Spark keeps no rows in memory, so they are read at each use: {error}")
            return ""

    def _execute(self, sql: str) -> None:
        self.engine.execute(sql)
        self.statements.append(sql)
