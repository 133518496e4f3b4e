"""One picture for a whole run: what the first view saw of a source is what all views of the run see."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sparkivm.engine import RelationFacts
from sparkivm.names import TableName


class Pins:
    """Facts of relations, read once, forgotten when the run changes one. Safe to share among threads."""

    def __init__(self) -> None:
        self._facts: dict[str, RelationFacts | None] = {}
        self._instant: int | None = None
        self._lock = threading.Lock()

    def facts(
        self, name: TableName, read: Callable[[TableName], RelationFacts | None]
    ) -> RelationFacts | None:
        with self._lock:
            if name.key in self._facts:
                return self._facts[name.key]
        found = read(name)
        with self._lock:
            if found is None:
                return None  # it may be built later in the run
            return self._facts.setdefault(name.key, found)

    def instant(self, read: Callable[[], int]) -> int:
        """The run's date and time, in microseconds since 1970."""
        with self._lock:
            if self._instant is None:
                self._instant = read()
            return self._instant

    def forget(self, name: TableName) -> None:
        with self._lock:
            self._facts.pop(name.key, None)
