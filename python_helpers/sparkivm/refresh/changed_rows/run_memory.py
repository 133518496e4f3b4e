"""Rows that a run reads once and keeps in Spark's memory for later reads; and answers about changes.

Delta starts slowly. Each use of a change feed in a plan costs 0.2 to 0.4 s to resolve it, list its files and
start its job, whatever its size; listing the files of a table costs 0.1 s. The views of a run mostly read the
same changes and the same small tables, each several times.

So we create global temporary views, which the sessions of all threads see. Their rows are cached when the
first statement reads them. Spark stores each view as its analyzed plan, not as text: a text would be resolved
again at each use, and another session would not find its rows in the cache.

tested  tests/unit/test_run_memory.py, tests/refresh/test_staging.py, tests/refresh/test_shared_joins.py,
        tests/spark/test_run_memory.py
"""

from __future__ import annotations

import threading
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, count

from sparkivm.algebra import Relation
from sparkivm.engine import Engine, EngineError, RelationFacts
from sparkivm.formats.refresh_texts import changed_rows
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import RESERVED_PREFIX, quoted
from sparkivm.plan.shared_joins import SharedJoin
from sparkivm.refresh.changed_rows.answers import Answers
from sparkivm.refresh.changed_rows.handed_on import HandedOn
from sparkivm.refresh.session.planning_settings import planned_for_changes
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.session.session_settings import decisive
from sparkivm.spark.data_types import SparkType
from sparkivm.spark_sql.relations import step_texts
from sparkivm.spark_sql.source_texts import SourceTexts

_STORED_AS_PLANS = {"spark.sql.legacy.storeAnalyzedPlanForView": "true"}
# In the run. Keeping rows costs 0.15 to 0.2 s, like two uses of a feed or three of a table.
_USES_OF_CHANGES = 2
_USES_OF_ROWS = 3
# More changes are read where they are needed, and only the needed columns.
_MOST_ROWS = 1_000_000
# Up to this many values we keep all columns, because the next view may read others.
MOST_VALUES = 8_000_000
# Changes that a view hands on are so many times fewer than those in its feed.
_FEWER = 10
_SMALL_BYTES = 4 << 20  # of a table's files

_Key = tuple[str | int, ...]
KeptQuery = tuple[Relation, SourceTexts]  # of rows, and how it reads tables


@dataclass(frozen=True)
class _Kept:
    name: str
    fields: frozenset[str]


class Memory:
    """Tells a view where to read rows of its sources, by their keys. This one keeps nothing.

    uses    how often a plan reads them
    fields  the columns that it reads
    every   in all columns that can be kept, not only in `fields`
    joins   whose changes are worth keeping, because several views read them
    query   finds the query of a join's changes; None if they are not kept
    """

    @property
    def joins(self) -> Sequence[SharedJoin]:
        return ()

    def changes(
        self, table: str, change: SourceChange, uses: int, fields: Collection[str], *, every: bool = False
    ) -> SourceChange:
        """The change, read from memory if it is kept there."""
        return change

    def handed_on(self, table: str, change: SourceChange) -> SourceChange:
        """The change, read from memory if the view below handed on what really changed."""
        return change

    def rows(self, table: str, uses: int, fields: Collection[str]) -> str:
        """The relation that has the rows of a table; "" if none is kept."""
        return ""

    def answers(self, table: str, change: SourceChange) -> Answers:
        """What is known of a change; callers read it and add to it."""
        return Answers()

    def join_changes(
        self, join: SharedJoin, changes: Mapping[str, SourceChange], query: Callable[[], KeptQuery | None]
    ) -> str:
        """The relation that has the changes of a join; "" if none is kept."""
        return ""


def keeps_changes(change: SourceChange, uses: int) -> bool:
    """Whether so many uses are enough to keep these changes."""
    return uses >= _USES_OF_CHANGES and change.how != "none" and change.rows <= _MOST_ROWS


def keeps_rows(source: RelationFacts, uses: int) -> bool:
    """Whether so many uses are enough to keep the rows of a table."""
    return uses >= _USES_OF_ROWS and source.size_bytes is not None and source.size_bytes <= _SMALL_BYTES


class RunMemory:
    """What one run keeps. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._nonce = uuid.uuid4().hex[:8]
        self._kept: dict[_Key, list[_Kept]] = {}
        self._made: list[str] = []  # names of all relations
        self._numbers = count(1)  # of their names
        self._turns: defaultdict[_Key, threading.Lock] = defaultdict(threading.Lock)
        self._uses: Counter[_Key] = Counter()
        self._answers: defaultdict[_Key, Answers] = defaultdict(Answers)
        self._joins: dict[str, tuple[SharedJoin, ...]] = {}  # by the plain view that contains them
        self._handed_on: dict[_Key, Callable[[], HandedOn]] = {}
        self._refused = False

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def uses(self, key: _Key, more: int) -> int:
        """Count `more` reads of these rows. Returns: how often the run reads them."""
        with self._lock:
            self._uses[key] += more
            return self._uses[key]

    def answers(self, key: _Key) -> Answers:
        """What is known of these changes; callers read it and add to it."""
        with self._lock:
            return self._answers[key]

    @property
    def joins(self) -> tuple[SharedJoin, ...]:
        """The joins of shared views, large ones first; of equal ones the first."""
        found: dict[str, SharedJoin] = {}
        with self._lock:
            for join in chain.from_iterable(self._joins.values()):
                found.setdefault(join.key, join)
        return tuple(sorted(found.values(), key=lambda join: -len(join.tables)))

    def share(self, view: str, read: Callable[[], tuple[SharedJoin, ...]]) -> None:
        """Several views read a plain view; `read` finds its joins, once in a run."""
        with self._lock:
            if view in self._joins:
                return
        joins = read()
        with self._lock:
            self._joins[view] = joins

    def hand_on(
        self, state: RelationFacts, new: int, settings: Mapping[str, str], changes: Callable[[], HandedOn]
    ) -> None:
        """Offer the changes of a state to the views above it.

        state     before these changes
        new       the value for VERSION AS OF after them
        settings  of the session that decide the values of expressions
        """
        with self._lock:
            self._handed_on[_of_state(state, state.snapshot, new, settings)] = cache(changes)

    def handed_on(
        self, state: RelationFacts, change: SourceChange, settings: Mapping[str, str]
    ) -> HandedOn | None:
        """What was offered as this change; None if nothing was."""
        with self._lock:
            found = self._handed_on.get(_of_state(state, change.old, change.new, settings))
        return None if found is None else found()

    def known(self, key: _Key, fields: frozenset[str]) -> str:
        """The relation that has the rows; "" if none has been made."""
        with self._lock:
            return next((one.name for one in self._kept.get(key, ()) if one.fields >= fields), "")

    def find(self, key: _Key, fields: frozenset[str], make: Callable[[str], Sequence[str]]) -> str:
        """The relation that has the rows; "" if Spark refused to keep any.

        key     what the rows are
        fields  columns that it must have
        make    creates the relation under a name; returns all names that it created. Does not call `find`
        Raises: EngineError of `make`, once.
        """
        with self._lock:
            turn = self._turns[key]
        with turn:  # `make` takes a while: only who needs the same rows waits for it
            with self._lock:
                if name := self.known(key, fields):
                    return name
                if self._refused:
                    return ""
                name = f"global_temp.{RESERVED_PREFIX}kept_{self._nonce}_{next(self._numbers)}"
            try:
                made = make(name)
            except EngineError:
                if self._is_first_refusal():
                    raise
                return ""
            with self._lock:
                self._made += made
                self._kept.setdefault(key, []).append(_Kept(name, fields))
            return name

    def _is_first_refusal(self) -> bool:
        with self._lock:
            known, self._refused = self._refused, True
            return not known

    def drop(self, engine: Engine) -> None:
        """Drop everything, at the end of the run."""
        with ExitStack() as waiting:
            with self._lock:
                turns = list(self._turns.values())
            for turn in turns:  # what a thread still makes is dropped too
                waiting.enter_context(turn)
            waiting.enter_context(self._lock)
            for name in reversed(self._made):
                with suppress(EngineError):  # nobody else uses its name
                    engine.execute(engine.render("drop_own_view", view=name))
            self._made.clear()
            self._kept.clear()
            self._handed_on.clear()


@dataclass(frozen=True)
class ViewMemory(Memory):
    """The run's memory as one view uses it.

    tables    its sources
    settings  of its session that decide the values of expressions
    shared    keys of sources that other views of the run read too
    """

    run: RunMemory
    engine: RecordingEngine
    tables: Mapping[str, RelationFacts]
    settings: Mapping[str, str] = field(default_factory=dict)
    shared: Collection[str] = frozenset()

    def changes(
        self, table: str, change: SourceChange, uses: int, fields: Collection[str], *, every: bool = False
    ) -> SourceChange:
        source, key = self.tables[table], self._key(table, change)
        if change.kept or not keeps_changes(change, self.run.uses(key, uses) + (table in self.shared)):
            return change
        few = change.rows * len(source.fields) <= MOST_VALUES
        every = every or (few and change.scans == 0)
        kept = self._fields(table, fields, every=every, netted=change.is_netted_first)
        read_bytes = change.scans * (source.size_bytes or 0)
        select = changed_rows(source, change, kept)
        return replace(change, kept=self._find(key, kept, lambda name: [(name, select)], read_bytes))

    def handed_on(self, table: str, change: SourceChange) -> SourceChange:
        source = self.tables[table]
        found = self.run.handed_on(source, change, self.settings)
        if found is None or found.rows * _FEWER > change.rows:
            return change
        fields = [field.name for field in source.fields]
        kept = self._find(self._key(table, change), fields, found.selects, 0)
        rows = max(1, round(found.rows))
        return replace(change, kept=kept, rows=rows, counted=False, scans=0) if kept else change

    def rows(self, table: str, uses: int, fields: Collection[str]) -> str:
        source = self.tables[table]
        key = self._version(table)
        if not keeps_rows(source, self.run.uses(key, uses)):
            return ""
        kept = self._fields(table, fields, every=True, netted=False)
        select = f"select {', '.join(map(quoted, kept))}\nfrom {source.pinned}"
        return self._find(key, kept, lambda name: [(name, select)], 0)

    def answers(self, table: str, change: SourceChange) -> Answers:
        return self.run.answers(self._key(table, change))

    @property
    def joins(self) -> Sequence[SharedJoin]:
        return self.run.joins

    def join_changes(
        self, join: SharedJoin, changes: Mapping[str, SourceChange], query: Callable[[], KeptQuery | None]
    ) -> str:
        sources = chain.from_iterable(self._key(table, changes[table]) for table in sorted(join.tables))
        key = (join.key, _text(self.settings), *sources)
        fields = tuple(join.columns.values())
        if known := self.run.known(key, frozenset(fields)):
            return known
        if (found := query()) is None:
            return ""
        rows, texts = found
        return self._find(key, fields, lambda name: step_texts(rows, texts, name), 0)

    def _version(self, table: str) -> _Key:
        """Of a table in this session: Delta reads some partition values in the session's time zone."""
        source = self.tables[table]
        return source.name.key, *source.at, _text(decisive(self.settings))

    def _key(self, table: str, change: SourceChange) -> _Key:
        return *self._version(table), change.old

    def _fields(self, table: str, read: Collection[str], *, every: bool, netted: bool) -> list[str]:
        """Columns to keep, in the table's order: those that are read, or every cacheable one.

        netted  whether rows are grouped by them
        """

        def may_be_kept(type_: SparkType) -> bool:
            return type_.cacheable and (type_.joinable or not netted)

        return [
            field.name
            for field in self.tables[table].fields
            if field.name in read or (every and may_be_kept(field.spark_type))
        ]

    def _find(
        self,
        key: _Key,
        fields: Sequence[str],
        selects: Callable[[str], Sequence[tuple[str, str]]],
        read_bytes: int,
    ) -> str:
        """As RunMemory.find; `selects` has the queries for a name: of what it reads, then its own."""

        def make(name: str) -> list[str]:
            made: list[str] = []
            with planned_for_changes(self.engine, read_bytes, _STORED_AS_PLANS):
                try:
                    for view, select in selects(name):
                        self.engine.run("keep_in_memory", name=view, select=select)
                        made.append(view)
                        self.engine.run("cache_when_read", name=view)
                except EngineError:
                    for view in reversed(made):
                        self.engine.run("drop_own_view", view=view)
                    raise
            return made

        try:
            return self.run.find(key, frozenset(fields), make)
        except EngineError as error:
            self.engine.warn(f"Spark cannot cache rows in memory, so each use reads them again: {error}")
            return ""


def _text(settings: Mapping[str, str]) -> str:
    return repr(sorted(settings.items()))


def _of_state(state: RelationFacts, old: int, new: int, settings: Mapping[str, str]) -> _Key:
    return state.name.key, state.table_id, old, new, _text(settings)
