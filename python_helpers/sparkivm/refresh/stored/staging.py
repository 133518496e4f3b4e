"""Computes rows before the applying statement: those that a statement reads several times, or the next needs.

A change feed is slow to plan and to read, and Spark inlines a CTE at each use. So changes that are read
several times become a temporary view whose rows Spark keeps in memory. A larger plan is computed in steps,
each a table, because Spark analyzes nested views as often as it inlines CTEs.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType, TracebackType

from sparkivm.algebra import Relation
from sparkivm.engine import EngineError
from sparkivm.marker import Marker, Owner, Role
from sparkivm.names import STEP_SUFFIX, TableName, step_table
from sparkivm.plan.state import STAGED
from sparkivm.plan.steps import Steps
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.ownership import drop_own, relations_kept_for
from sparkivm.spark_sql.relations import select_text, step_texts
from sparkivm.spark_sql.source_texts import SourceTexts

_LEFT_OVER_S = 24 * 3600  # no refresh takes so long
_STEP_NAME = re.compile(rf"{STEP_SUFFIX}([0-9a-f]+)_[0-9a-f]+_[0-9]+$")  # with the second of its creation


class Staging:
    """The tables and views of one refresh, dropped at its end.

    kept  relations of the run that its plans read, by their keys in plans
    """

    def __init__(
        self,
        engine: RecordingEngine,
        view: TableName,
        owner: Owner,
        kept: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._engine, self._view = engine, view
        self._marker = Marker(owner, Role.STEP)
        self._nonce = uuid.uuid4().hex[:8]
        self._texts = dict(kept)
        self._undo: list[str] = []
        self._tables = 0

    @property
    def texts(self) -> Mapping[str, str]:
        """FROM items of the tables computed so far, by their keys in plans. Grows."""
        return self._texts

    @property
    def changes(self) -> str:
        """FROM item of the changes, once they are staged."""
        return self._texts[STAGED]

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # An error here would hide the original one; the names are never used again.
        for statement in reversed(self._undo):
            with suppress(EngineError):
                self._engine.execute_quietly(statement)

    def stage(self, changes: Steps, sources: SourceTexts) -> None:
        """Compute changes now; plans read them as STAGED, statements as `changes`."""
        rest = self.computed(changes, sources)
        if changes.tables:
            self._table(STAGED, select_text(rest, sources))
            return
        view = f"{STAGED}_{self._nonce}"
        for name, select in step_texts(rest, sources, view):
            sql = self._engine.render("stage_changes", name=name, select=select, later=name != view)
            self._run(sql, undo=self._engine.render("drop_own_view", view=name))
        self._texts[STAGED] = view

    def computed(self, steps: Steps, sources: SourceTexts) -> Relation:
        """Compute the tables of a plan. Returns: the relation that is left, which reads them."""
        for step in steps.tables:
            self._table(step.name, select_text(step.relation, sources))
        return steps.rest

    def _table(self, key: str, select: str) -> None:
        if not self._tables:
            self._drop_left_overs()
        self._tables += 1
        name = step_table(self._view, f"{int(time.time()):x}_{self._nonce}_{self._tables}").sql
        sql = self._engine.render(
            "stage_step", table=name, select=select, tblproperties=self._marker.properties
        )
        self._run(sql, undo=self._engine.render("drop_own_table", table=name))
        self._texts[key] = name

    def _run(self, sql: str, undo: str) -> None:
        self._undo.append(undo)
        self._engine.execute(sql)

    def _drop_left_overs(self) -> None:
        """Tables of earlier refreshes of the view that were killed."""
        for facts, _ in relations_kept_for(self._engine, self._view, self._marker.__eq__):
            if is_abandoned_step(facts.name):
                drop_own(self._engine, facts)


def is_abandoned_step(name: TableName) -> bool:
    """Whether a step's table is so old that its refresh has ended."""
    made = _STEP_NAME.search(name.identifier)
    return made is not None and time.time() - int(made[1], 16) > _LEFT_OVER_S
