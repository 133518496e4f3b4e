"""Which snapshots the operation expires: those of states and mirrors of the project that no view needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from sparkivm.changes.frontier import Frontier, SourceFrontier
from sparkivm.engine import Commit, EngineError, RelationFacts
from sparkivm.marker import Marker, Role, owner_of
from sparkivm.names import TableName
from sparkivm.refresh.operations.expire_snapshots import expire_snapshots

DAY_MS = 24 * 3600 * 1000
NOW_MS = 100 * DAY_MS
SCHEMA = TableName("s", "")


class Tables:
    """An engine with only Iceberg tables, which writes down what is executed."""

    def __init__(self) -> None:
        self.relations: dict[str, RelationFacts] = {}
        self.history: dict[str, list[Commit]] = {}
        self.executed: list[str] = []
        self.fails = ""

    def add(
        self, name: str, role: Role, days: Sequence[float], project: str = "lab", frontier: str | None = None
    ) -> None:
        """A table with a snapshot on each of these days; the newest one has the frontier."""
        number = len(days)
        marker = Marker(owner_of(project, "model.lab.m", TableName("s", name.removesuffix("__ivm"))), role)
        self.history[name] = [
            Commit(
                i, int(day * DAY_MS), "append", {}, {"parent": str(i - 1)},
                user_metadata=frontier if i == number else None, id=f"snapshot:{i}",
            )
            for i, day in enumerate(days, 1)
        ]  # fmt: skip
        self.relations[name] = RelationFacts(
            TableName("s", name), "iceberg", (), table_id=name, version=number,
            commit_id=f"snapshot:{number}:0", properties=marker.properties,
        )  # fmt: skip

    def names_like(self, prefix: TableName) -> list[TableName]:
        return [facts.name for facts in self.relations.values()]

    def describe(self, name: TableName) -> RelationFacts | None:
        return self.relations.get(name.identifier)

    def commits(self, name: TableName, after: int) -> list[Commit]:
        return [commit for commit in self.history[name.identifier] if commit.version > after]

    def render(self, macro: str, **arguments: Any) -> str:
        return f"{macro} {arguments['table']} {arguments['older_than'][:10]}"

    def execute(self, sql: str) -> list[Any]:
        if self.fails and self.fails in sql:
            raise EngineError("its files are kept: gc.enabled is false")
        self.executed.append(sql)
        return []


def reading(*sources: tuple[str, float]) -> str:
    """The frontier of a view that read these tables as they were on some day."""
    read = {name: SourceFrontier(name, name, 1, "", int(day * DAY_MS), {}) for name, day in sources}
    return Frontier("lab", "model.lab.m", "s.m", "bag", "text", "", {}, read).to_json()


def expired(tables: Tables) -> list[str]:
    engine: Any = tables
    return expire_snapshots(engine, "lab", [SCHEMA], NOW_MS, 5)


def test_what_nobody_needs_expires_after_some_days():
    tables = Tables()
    tables.add("m__ivm", Role.STATE, (1, 50, 99), frontier=reading())
    assert len(expired(tables)) == 1
    assert tables.executed == ["expire_snapshots `s`.`m__ivm` 1970-04-06"]


def test_young_snapshots_stay():
    tables = Tables()
    tables.add("m__ivm", Role.STATE, (97, 98, 99), frontier=reading())
    assert expired(tables) == []
    assert tables.executed == []


@pytest.mark.parametrize("project", ["lab", "another"])
def test_what_a_view_has_not_read_yet_stays(project):
    tables = Tables()
    tables.add("m__ivm", Role.STATE, (1, 50, 90, 99), frontier=reading())
    tables.add("above__ivm", Role.STATE, (60,), project=project, frontier=reading(("m__ivm", 50)))
    expired(tables)
    assert tables.executed == ["expire_snapshots `s`.`m__ivm` 1970-02-19"], "a minute before day 50"


def test_the_snapshot_with_the_frontier_stays():
    """Others, such as compactions, may be newer."""
    tables = Tables()
    tables.add("m__ivm", Role.STATE, (1, 40), frontier=reading())
    tables.history["m__ivm"].append(Commit(3, 90 * DAY_MS, "replace", {}, {"parent": "2"}, id="snapshot:3"))
    tables.relations["m__ivm"] = RelationFacts(
        TableName("s", "m__ivm"), "iceberg", (), table_id="m__ivm", version=3,
        commit_id="snapshot:3:0", properties=tables.relations["m__ivm"].properties,
    )  # fmt: skip
    expired(tables)
    assert tables.executed == ["expire_snapshots `s`.`m__ivm` 1970-02-09"], "a minute before day 40"


def test_delta_tables_expire_by_their_own_means():
    tables = Tables()
    tables.add("m__ivm", Role.STATE, (1, 50, 99), frontier=reading())
    tables.relations["m__ivm"] = replace(tables.relations["m__ivm"], kind="delta", commit_id="")
    assert expired(tables) == []


def test_mirrors_expire_too():
    tables = Tables()
    tables.add("p__ivm_mirror", Role.MIRROR, (1, 50, 99))
    tables.add("m__ivm", Role.STATE, (99,), frontier=reading(("p__ivm_mirror", 99)))
    expired(tables)
    assert tables.executed == ["expire_snapshots `s`.`p__ivm_mirror` 1970-04-06"]


@pytest.mark.parametrize(
    ("role", "project"), [(Role.PUT_ASIDE, "lab"), (Role.STEP, "lab"), (Role.STATE, "another")]
)
def test_what_belongs_to_others_is_not_touched(role, project):
    tables = Tables()
    tables.add("m__ivm", role, (1, 50, 99), project=project, frontier=reading())
    assert expired(tables) == []
    assert tables.executed == []


def test_a_state_that_cannot_be_read_stops_it_all():
    """Nobody knows which snapshots it needs."""
    tables = Tables()
    tables.add("a__ivm", Role.STATE, (1, 50, 99), frontier=reading())
    tables.add("b__ivm", Role.STATE, (99,), frontier=reading(("a__ivm", 1)))
    tables.relations["b__ivm"] = RelationFacts(
        TableName("s", "b__ivm"), "other", (), properties=tables.relations["b__ivm"].properties
    )
    with pytest.raises(EngineError, match=r"s\.b__ivm cannot be read"):
        expired(tables)


def test_a_relation_whose_metadata_cannot_be_read_stops_it_all_by_its_name(monkeypatch):
    tables = Tables()
    tables.add("a__ivm", Role.STATE, (1, 50, 99), frontier=reading())

    def fails(name: TableName) -> None:
        raise EngineError("its directory is gone", "PATH_NOT_FOUND")

    monkeypatch.setattr(tables, "describe", fails)
    with pytest.raises(EngineError, match=r"s\.a__ivm cannot be read, .* its directory is gone") as raised:
        expired(tables)
    assert raised.value.condition == "PATH_NOT_FOUND"
    assert tables.executed == []


def test_a_table_that_refuses_stops_no_other():
    tables = Tables()
    tables.add("a__ivm", Role.STATE, (1, 50, 99), frontier=reading())
    tables.add("b__ivm", Role.STATE, (1, 50, 99), frontier=reading())
    tables.fails = "a__ivm"
    lines = sorted(expired(tables))
    assert "s.a__ivm: its snapshots cannot be expired: its files are kept" in lines[0]
    assert len(tables.executed) == 1
