"""A laboratory without a JVM: sources that others write to, refreshes, and recomputation as the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from sparkivm.changes.frontier import Frontier, read_frontier
from sparkivm.changes.source_declaration import NOTHING_DECLARED, DeclaredSources
from sparkivm.engine import Commit, EngineError
from sparkivm.errors import DeclarationError, ModelError
from sparkivm.explain.explain_view import explain_view
from sparkivm.formats.delta_states import DELTA_STATES
from sparkivm.marker import owner_of
from sparkivm.names import TableName, state_table
from sparkivm.reasons import Reason
from sparkivm.refresh.operations.capture_changes import capture_changes
from sparkivm.refresh.operations.consistency import consistency_sql
from sparkivm.refresh.refresh_view import clone_view, refresh_view
from sparkivm.refresh.request import RefreshRequest
from sparkivm.refresh.result import Mode, RefreshResult
from sparkivm.refresh.sources.pins import Pins
from sparkivm.refresh.stored.drop_view import drop_incremental_view
from tests.fake_engine.delta_table import DeltaTable
from tests.fake_engine.engine import FakeEngine
from tests.fake_engine.lake import Lake
from tests.fake_engine.session import Session
from tests.fake_engine.statements import execute

SCHEMA = "shop"
FEED = "tblproperties (delta.enableChangeDataFeed = true)"
MAPPED = "tblproperties (delta.enableChangeDataFeed = true, delta.columnMapping.mode = 'name')"


class Lab:
    """A lake with one schema, a driver, and a session of somebody else who writes."""

    def __init__(self, lake: Lake | None = None) -> None:
        self.lake = lake or Lake()
        self.engine = FakeEngine(self.lake, SCHEMA)
        self.session = Session(self.lake, SCHEMA)

    def fork(self) -> Lab:
        """A copy that shares no later changes. Its driver has just started."""
        return Lab(self.lake.fork())

    def another(self) -> Lab:
        """The same lake with a second driver."""
        return Lab(self.lake)

    def run(self, *statements: str) -> None:
        """Write as somebody else does."""
        for statement in statements:
            execute(self.session, statement)

    def table(self, name: str, columns: str, *rows: str, clauses: str = FEED) -> None:
        """Create a Delta table that records its changes."""
        self.run(f"create table {name} ({columns}) using delta {clauses}")
        if rows:
            self.run(f"insert into {name} values {', '.join(rows)}")

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row.values()) for row in self.session.rows(sql)]

    def delta(self, name: str) -> DeltaTable:
        return self.lake.delta(TableName(SCHEMA, name))

    def version(self, name: str) -> int:
        return self.delta(name).newest.number

    def properties(self, name: str) -> Mapping[str, str]:
        return self.delta(name).newest.properties

    def has(self, name: str) -> bool:
        return TableName(SCHEMA, name).key in self.lake.relations

    def names(self) -> list[str]:
        return sorted(relation.name.identifier for relation in self.lake.relations.values())

    def resize(self, name: str, size_bytes: int | None) -> None:
        """Make a table report this size of its files."""
        self.lake.sizes[TableName(SCHEMA, name).key] = size_bytes

    def says(self, name: str, **metrics: object) -> None:
        """Make a table's newest commit report other metrics; None removes one."""
        table = self.delta(name)
        said = {**table.newest.commit.metrics, **{key: str(value) for key, value in metrics.items()}}
        said = {key: value for key, value in said.items() if metrics.get(key, "") is not None}
        table.change(table.newest.number, commit=replace(table.newest.commit, metrics=said))

    def says_many(self, name: str, rows: int) -> None:
        """Make a table's newest commit report this many changed rows."""
        metrics = self.delta(name).newest.commit.metrics
        self.says(name, **{metric: rows for metric in metrics if metric.endswith(("Rows", "RowsUpdated"))})

    def grow_older(self, name: str, days: float) -> None:
        """Make all commits of a table this much older."""
        table = self.delta(name)
        for version in list(table.versions):
            older = version.commit.timestamp_ms - int(days * 24 * 3600 * 1000)
            table.change(version.number, commit=replace(version.commit, timestamp_ms=older))

    def forget_commits(self, name: str, *versions: int) -> None:
        """Remove these commits from a table's log."""
        for version in versions:
            self.delta(name).change(version, in_log=False)

    def capture(
        self, name: str, declared: DeclaredSources = NOTHING_DECLARED, *, remove: bool = False
    ) -> str:
        """Make a source record its changes, or stop doing so."""
        return capture_changes(
            self.engine, TableName(SCHEMA, name), declared, SCHEMA, DELTA_STATES, remove=remove
        )

    def view(self, name: str, sql: str, **options: Any) -> View:
        """A view that is refreshed from changes at any cost, unless `refresh_mode` says otherwise."""
        full_name = TableName(SCHEMA, name)
        owner = owner_of("lab", f"model.lab.{name}", full_name)
        request = RefreshRequest(full_name, sql, owner, **{"refresh_mode": "incremental", **options})
        return View(self, request)


@dataclass(frozen=True)
class View:
    """One model in a laboratory."""

    lab: Lab
    request: RefreshRequest

    @property
    def name(self) -> str:
        return self.request.view.identifier

    @property
    def state(self) -> str:
        return state_table(self.request.view).identifier

    def with_(self, **options: Any) -> View:
        """The same view with other request options."""
        return View(self.lab, replace(self.request, **options))

    def on(self, lab: Lab) -> View:
        """The same view in another laboratory."""
        return View(lab, self.request)

    def refresh(self, pins: Pins | None = None, **options: Any) -> RefreshResult:
        """Refresh without checking the rows; `options` replace those of the request."""
        run = pins or Pins()
        try:
            return refresh_view(self.lab.engine, replace(self.request, **options), run)
        finally:
            if pins is None:
                run.memory.drop(self.lab.engine)

    def clone_of(self, origin: View, clones: Mapping[str, str] = MappingProxyType({})) -> RefreshResult:
        """Clone a view of another environment; `clones` by the names of views."""
        keys = {_state_key(here): _state_key(there) for here, there in clones.items()}
        return clone_view(self.lab.engine, self.request, Pins(), origin.request.view, keys)

    def drop(self) -> str:
        owner = self.request.owner
        return drop_incremental_view(self.lab.engine, self.request.view, owner.project, owner.model)

    def explain(self, format: str = "text") -> str:
        return explain_view(self.lab.engine, self.request, format)

    def consistency_sql(self) -> str:
        return consistency_sql(self.lab.engine, self.request)

    def must_be(self, mode: Mode, reason: Reason | None = None, **options: Any) -> RefreshResult:
        """Refresh; check the mode, the reason, and that the view equals its query now."""
        result = self.refresh(**options)
        assert (result.mode, result.fallback and result.fallback.reason) == (mode, reason), result
        self.check()
        return result

    def build(self) -> View:
        self.must_be("create")
        return self

    def check(self) -> None:
        """Check that users see the query's rows, compared as bags."""
        assert self.differences() == []

    def differences(self) -> list[tuple[int, str]]:
        """Differing rows with their surplus in the view, negative if rows are missing."""
        net = Counter(map(repr, self.content()))
        net.subtract(Counter(map(repr, self.lab.rows(self.request.sql))))
        return sorted((count, row) for row, count in net.items() if count)

    def content(self) -> list[tuple[Any, ...]]:
        """The rows that users see, in a fixed order."""
        return sorted(self.lab.rows(f"select * from {self.name}"), key=repr)

    def held(self) -> list[tuple[Any, ...]]:
        """The rows of the state, in a fixed order."""
        return sorted(self.lab.rows(f"select * from {self.state}"), key=repr)

    def history(self) -> list[Commit]:
        """The state's commits, oldest first."""
        return self.lab.delta(self.state).history

    def operations(self) -> list[str]:
        return [commit.operation for commit in self.history()]

    def frontier(self) -> Frontier:
        """The frontier in the newest commit that has one."""
        found = [read_frontier(commit.user_metadata) for commit in self.history()]
        return [frontier for frontier in found if frontier is not None][-1]


def _state_key(view: str) -> str:
    return state_table(TableName(SCHEMA, view)).key


def refused(view: View, **options: Any) -> str:
    """The text of the error with which a refresh ends."""
    try:
        result = view.refresh(**options)
    except (ModelError, EngineError, DeclarationError) as error:
        return str(error)
    raise AssertionError(f"the refresh went through: {result}")


def kinds(statements: Sequence[str]) -> list[str]:
    """The first words of each statement, enough to see its kind."""
    return [
        " ".join(statement.split()[: 3 if statement.startswith(("create", "drop")) else 2])
        for statement in statements
    ]
