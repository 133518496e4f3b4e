"""A project whose models are all incremental views: built, refreshed after changes of its seeds, compared."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Protocol

import sqlglot
from sqlglot import exp

from sparkivm.engine import Field
from sparkivm.names import TableName
from tests.packages.changes import changes
from tests.packages.outcome import Engine, Outcome
from tests.packages.project import Project
from tests.seeds import seed

_AS_REBUILT = "equal to its rebuild; its SELECT puts tied rows in a different order"
Rows = list[tuple[Any, ...]]


class Warehouse(Protocol):
    """Where a project is built: the embedded engine, or Spark."""

    engine: Engine

    def dbt(self) -> AbstractContextManager[None]:
        """While it lasts, dbt commands reach this warehouse."""
        ...

    def execute(self, sql: str) -> None: ...

    def rows(self, sql: str) -> Rows: ...

    def fields(self, table: TableName) -> Sequence[Field]: ...

    def at_refresh(self, view: TableName, sql: str) -> str:
        """The query at the time of the view's last refresh."""
        ...

    def next_day(self) -> None:
        """Let the time of queries go on; between two calls it stands still."""
        ...

    def cannot_run(self, message: str) -> bool:
        """Whether an error says that this warehouse is not as able as Spark."""
        ...


class Trial:
    """The steps of one project on one warehouse."""

    def __init__(self, project: Project, warehouse: Warehouse) -> None:
        self._project, self._warehouse = project, warehouse
        self._rng = random.Random(seed(f"packages {project.name}"))
        self._found: dict[str, Outcome] = {}  # by model; the first problem stays

    def run(self, rounds: int) -> Sequence[Outcome]:
        """Build, then change the seeds and refresh a number of times. Compare after each step."""
        project, warehouse = self._project, self._warehouse
        with warehouse.dbt():
            manifest = project.manifest()
            seeds = [node for node in manifest.nodes.values() if node.resource_type == "seed"]
            for result in project.dbt("seed", manifest).results if seeds else ():
                if str(result.status) != "success":
                    raise AssertionError(f"seed {result.node.name}: {result.message}")
            self._refresh(manifest)
            for _ in range(rounds):
                warehouse.next_day()
                for node in seeds:
                    self._change(TableName(node.schema, node.alias))
                self._refresh(manifest)
        return [self._found[name] for name in sorted(self._found)]

    def _change(self, table: TableName) -> None:
        warehouse = self._warehouse
        rows = warehouse.rows(f"select * from {table.sql}")
        for statement in changes(self._rng, table.sql, warehouse.fields(table), rows):
            warehouse.execute(statement)

    def _refresh(self, manifest: Any) -> None:
        results = [
            one for one in self._project.dbt("run", manifest).results if one.node.resource_type == "model"
        ]
        broken = []
        for result in results:
            before = self._found.get(result.node.name)
            self._found[result.node.name] = now = self._outcome(result)
            if before is not None and before.kind != "incremental":
                self._found[result.node.name] = before
            elif now.kind != "not tried" and now.kind != "failed" and self._differences(result.node):
                broken.append(result.node)
        for node in broken:
            self._compare_with_rebuild(node, manifest)

    def _outcome(self, result: Any) -> Outcome:
        name, status, said = result.node.name, str(result.status), result.adapter_response
        if status == "skipped":
            return Outcome(name, "not tried", "it reads a model that was not tried, or failed")
        if status != "success":
            message = str(result.message)
            if self._warehouse.cannot_run(message):
                return Outcome(name, "not tried", "the embedded engine cannot run it", message)
            return Outcome(name, "failed", "an error", message)
        if said["mode"] == "full":
            return Outcome(name, "full", f"`{said['reason']}`", said["reason_text"])
        compared = self._found[name].compared if name in self._found else 0
        reason = self._found[name].reason if name in self._found else ""
        return Outcome(name, "incremental", reason, compared=compared + (said["mode"] == "incremental"))

    def _differences(self, node: Any) -> Counter[Any]:
        """Rows that are in the view only (positive) or in its SELECT only (negative)."""
        view = _table(node)
        net = Counter(map(_plain, self._warehouse.rows(f"select * from {view.sql}")))
        query = self._warehouse.at_refresh(view, node.compiled_code)
        net.subtract(Counter(map(_plain, self._warehouse.rows(query))))
        return Counter({row: count for row, count in net.items() if count})

    def _compare_with_rebuild(self, node: Any, manifest: Any) -> None:
        """A view whose SELECT leaves open which rows it returns (ties) still has to equal its rebuild."""
        held = self._warehouse.rows(f"select * from {_table(node).sql}")
        node.config.full_refresh = True
        self._project.dbt("run", manifest, [node.name])
        node.config.full_refresh = None
        rebuilt = self._warehouse.rows(f"select * from {_table(node).sql}")
        net = Counter(map(_plain, held))
        net.subtract(Counter(map(_plain, rebuilt)))
        if any(net.values()) or not _rows_may_tie(node.compiled_code):
            net = self._differences(node)
            differs = [f"{count:+} {row}" for row, count in net.items() if count]
            self._found[node.name] = Outcome(node.name, "failed", "wrong rows", "; ".join(differs[:4]))
        else:
            self._found[node.name] = replace(self._found[node.name], reason=_AS_REBUILT)


def _rows_may_tie(sql: str) -> bool:
    """Whether an order of rows decides about a query's result."""
    return any(sqlglot.parse_one(sql, dialect="spark").find_all(exp.Window, exp.Limit))


def _table(node: Any) -> TableName:
    return TableName(str(node.schema), str(node.alias))


def _plain(row: Sequence[Any]) -> tuple[Any, ...]:
    """A row in which equal values are the same; sums of DOUBLE in another order differ in the last digits."""
    return tuple(map(_value, row))


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return "NaN" if value != value else float(f"{round(value, 9):.8g}")
    if isinstance(value, Mapping):
        return tuple((name, _value(part)) for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(_value, value))
    return value
