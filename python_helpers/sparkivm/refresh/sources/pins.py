"""The version of each source that all views of a run read: the one that the first view saw."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sparkivm.engine import RelationFacts
from sparkivm.errors import NotIncremental
from sparkivm.names import TableName
from sparkivm.reasons import Fallback
from sparkivm.refresh.changed_rows.run_memory import RunMemory


class Pins:
    """Facts of relations, read once; forgotten if the run changes the relation. Thread-safe."""

    def __init__(self) -> None:
        self._facts: dict[str, RelationFacts | None] = {}
        self._instant: int | None = None
        self._refused: dict[str, Fallback] = {}
        self._turns: dict[str, threading.Lock] = {}
        self.memory = RunMemory()
        self.checked: set[tuple[str, int, str]] = (
            set()
        )  # change logs whose operations are all declared, by `at`
        self._replaced: set[tuple[str, str]] = set()  # tables and commits looked for again, by name and id
        self._lock = threading.Lock()
        self._of_catalogs: dict[str, Pins] = {}

    def in_catalog(self, current: str) -> Pins:
        """The pins of sessions with this current catalog, to which names without a catalog refer.

        The instant and the memory are the run's.
        """
        with self._lock:
            if not self._of_catalogs:
                self._of_catalogs[current] = self
            return self._of_catalogs.setdefault(current, _InAnotherCatalog(self))

    def facts(
        self, name: TableName, read: Callable[[TableName], RelationFacts | None]
    ) -> RelationFacts | None:
        """Raises: NotIncremental if the first look at the relation did."""
        with self._lock:
            if name.key in self._facts:
                return self._facts[name.key]
            turn = self._turns.setdefault(name.key, threading.Lock())
        with turn:  # updating a mirror takes a while, and is done once
            with self._lock:
                if name.key in self._facts:
                    return self._facts[name.key]
                if name.key in self._refused:
                    raise NotIncremental(self._refused[name.key])
            try:
                found = read(name)
            except NotIncremental as error:
                with self._lock:
                    self._refused[name.key] = error.fallback
                raise
            with self._lock:
                if found is None:
                    return None  # it may be built later in the run
                return self._facts.setdefault(name.key, found)

    def has(self, name: TableName) -> bool:
        """Whether the run looked at it."""
        with self._lock:
            return name.key in self._facts or name.key in self._refused

    def instant(self, read: Callable[[], int]) -> int:
        """The run's date and time, in microseconds since 1970."""
        with self._lock:
            if self._instant is None:
                self._instant = read()
            return self._instant

    def forget_instant(self) -> None:
        with self._lock:
            self._instant = None

    def forget_for(self, name: TableName, known: str) -> bool:
        """Forget a relation because a view knows another table or commit, by its id; once in a run.

        Returns: whether this was the first time.

        The next look finds the known one or a later one; all views that know it then read the same.
        """
        with self._lock:
            first = (name.key, known) not in self._replaced
            self._replaced.add((name.key, known))
        if first:
            self.forget(name)
        return first

    def forget_everywhere(self, name: TableName) -> None:
        """Forget a relation that the run has built, in the pins of each current catalog."""
        with self._lock:
            others = list(self._of_catalogs.values())
        for pins in (self, *others):
            pins.forget(name)

    def forget(self, name: TableName) -> None:
        with self._lock:
            self._facts.pop(name.key, None)
            self._refused.pop(name.key, None)


class _InAnotherCatalog(Pins):
    def __init__(self, run: Pins) -> None:
        super().__init__()
        self._run, self.memory = run, run.memory

    def in_catalog(self, current: str) -> Pins:
        return self._run.in_catalog(current)

    def instant(self, read: Callable[[], int]) -> int:
        return self._run.instant(read)

    def forget_instant(self) -> None:
        self._run.forget_instant()
