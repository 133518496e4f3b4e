"""One disturbed refresh: the fault, what readers see, the next ordinary run, and its result."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from pyspark.sql import SparkSession

from sparkivm.engine import EngineError
from sparkivm.errors import ModelError
from sparkivm.names import STEP_SUFFIX, TableName
from sparkivm.refresh.refresh_view import refresh_view
from sparkivm.refresh.sources.pins import Pins
from tests.chaos.faults import FAULTS, Fault, FaultyEngine, Killed
from tests.chaos.kinds import BYSTANDERS, ICE, Kind, open_world
from tests.spark.lab import Lab, View

Rows = list[tuple[Any, ...]]

_STEP = re.compile(rf"{STEP_SUFFIX}\w+$")


class Failure(Exception):
    """The next run did not heal a view; the text says what is wrong."""


class World:
    """A schema with a view of one kind and relations of others; states have the size that the kind assumes.

    boundaries  the number of statements in a refresh; None: an undisturbed refresh, the first one, is counted
    """

    def __init__(self, spark: SparkSession, kind: Kind, boundaries: int | None = None) -> None:
        self._spark, self.kind = spark, kind
        self.lab = Lab(spark, re.sub(r"\W+", "_", f"chaos {kind.name}"))
        open_world(self.lab)
        self._others = self._state_of_others()
        self._number = 100
        self._view = self.lab.view("m", kind.sql, **kind.options)
        self.view.refresh()
        self.boundaries = self._boundaries() if boundaries is None else boundaries
        self.names = self._names()

    @property
    def view(self) -> View:
        """The view of this refresh; its SQL may differ from the last one."""
        sql = self._view.request.sql.replace("{i}", str(self._number))
        return View(self.lab, replace(self._view.request, sql=sql))

    def disturbed(self, fault: Fault) -> bool:
        """Disturb a refresh, then heal it. Returns whether the fault occurred. Raises: Failure."""
        self._change()
        names = self._names()
        broken = "m" in names and not names & {"m__ivm", f"{ICE}.m__ivm"}  # the change made it unreadable
        before = None if broken else self._readable()
        engine = self._engine(fault)
        try:
            self._act(engine)
        except (Killed, EngineError, ModelError) as error:
            if not engine.happened:
                raise Failure(f"fails without a fault: {error}") from error
        if not engine.happened:
            return False
        between = None if broken else self._readable()
        self._heal()
        self._check_readers(before, between)
        return True

    def close(self) -> None:
        tables = [f"drop table {ICE}.{self.lab.schema}.{name}" for name in self._in_iceberg()]
        self.lab.run(*tables, f"drop schema {self.lab.schema} cascade")

    def _boundaries(self) -> int:
        """The number of statements in an undisturbed refresh, which must be of this kind."""
        self._change()
        engine = self._engine(None)
        self.kind.check(self._act(engine))
        self._heal()
        return len(engine.statements)

    def _change(self) -> None:
        self._number += 1
        self.kind.change(self.view, self._number)
        for name, value in self.kind.settings(self._number).items():
            for session in (self.lab.session, self.lab.engine.session):
                session.conf.set(name, value)

    def _engine(self, fault: Fault | None) -> FaultyEngine:
        engine = FaultyEngine(self._spark, fault)
        engine.session.catalog.setCurrentDatabase(self.lab.schema)
        for name, value in self.kind.settings(self._number).items():
            engine.session.conf.set(name, value)
        return engine

    def _act(self, engine: FaultyEngine) -> Any:
        if self.kind.act is not None:
            lab = self.lab.another()
            lab.engine = engine
            return self.kind.act(View(lab, self.view.request))
        return refresh_view(engine, replace(self.view.request, **self.kind.disturbed), Pins())

    def _heal(self) -> None:
        """The next ordinary run, as a new driver does it."""
        if self.kind.act is not None:
            self.kind.act(self.view)
            own = {"m", "m__ivm", "m__ivm_aux_1", "m__ivm_aux_1__ivm"}
            left = self._names() & (own | {f"{ICE}.{name}" for name in own})
            if left:
                raise Failure(f"left over: {sorted(left)}")
        try:
            self.view.refresh()
        except (EngineError, ModelError) as error:
            raise Failure(f"to be repaired by hand: {error}") from error
        if differences := self.view.differences():
            raise Failure(f"lost or doubled rows: {differences}")
        if differences := self.view.state_differences():
            raise Failure(f"lost or doubled in hidden columns: {differences}")
        again = self.view.refresh()
        if again.mode != "no_op" and self.view.request.sql.find("rand()") < 0:
            raise Failure(f"the run after the next is {again.mode}: {again.fallback}")
        if self._state_of_others() != self._others:
            raise Failure("relations of others were touched")
        names = self._names()
        if names != getattr(self, "names", names):
            raise Failure(f"other relations than before: {sorted(names ^ self.names)}")

    def _check_readers(self, before: Rows | None, between: Rows | None) -> None:
        """Until the next run, readers see either the old or the new rows, if they can read the view."""
        if before is None or self.kind.mode != "incremental" or self.kind.act is not None:
            return
        if between != before and between != (now := self.view.content()):
            raise Failure(f"readers saw {between}, which is neither {before} nor {now}")

    def _readable(self) -> Rows | None:
        return self.view.content() if "m" in self._names() else None

    def _names(self) -> set[str]:
        found = {row["tableName"] for row in self.lab.rows("show tables") if not row["isTemporary"]}
        found |= {f"{ICE}.{name}" for name in self._in_iceberg()}
        return {name for name in found if not _STEP.search(name)}

    def _in_iceberg(self) -> list[str]:
        """Tables in the schema of the same name in the catalog of Iceberg, if there is one."""
        if not self.kind.in_iceberg:
            return []
        schemas = {row["namespace"] for row in self.lab.rows(f"show namespaces in {ICE}")}
        if self.lab.schema not in schemas:
            return []
        return [row["tableName"] for row in self.lab.rows(f"show tables in {ICE}.{self.lab.schema}")]

    def _state_of_others(self) -> list[Any]:
        """Facts that change if somebody writes to one of these relations or replaces it."""
        names = [TableName(self.lab.schema, name) for name in BYSTANDERS]
        return [facts and facts.at for facts in self.lab.engine.describe_all(names)]


def all_faults(boundaries: int) -> list[Fault]:
    return [Fault(what, at) for at in range(boundaries) for what in FAULTS]
