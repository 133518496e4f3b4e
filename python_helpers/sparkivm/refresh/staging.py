"""What a refresh computes beforehand: temporary views whose rows Spark keeps in memory, or on disk.

A change feed is slow to plan and to read, and Spark inlines a CTE wherever it stands. So what several parts
of a statement read, and what the next statement depends on, is computed once.
"""

from __future__ import annotations

import uuid
from collections.abc import MutableSequence
from contextlib import suppress
from types import TracebackType

from sparkivm.algebra import Relation
from sparkivm.engine import Engine, EngineError
from sparkivm.plan.state import STAGED
from sparkivm.spark_sql.relations import step_texts
from sparkivm.spark_sql.source_texts import SourceTexts


class Staging:
    """The views of one refresh, gone at its end; `statements` are told how they were made."""

    def __init__(self, engine: Engine, statements: MutableSequence[str]) -> None:
        self.name = f"{STAGED}_{uuid.uuid4().hex[:12]}"  # of the changes, once they are staged
        self._engine = engine
        self._statements = statements
        self._views: list[str] = []

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # An error here would hide the one that led here; the names are never used again.
        with suppress(EngineError):
            for name in reversed(self._views):
                self._engine.execute(self._engine.render("unstage_changes", name=name))

    def stage(self, changes: Relation, sources: SourceTexts) -> None:
        """Compute changes now; they are read by the name of the staging."""
        for name, select in step_texts(changes, sources, self.name):
            self._view(name, select, later=name != self.name)

    def _view(self, name: str, select: str, *, later: bool) -> None:
        self._views.append(name)
        sql = self._engine.render("stage_changes", name=name, select=select, later=later)
        self._statements.append(sql)
        self._engine.execute(sql)
