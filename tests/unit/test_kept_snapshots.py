"""Which tags a refresh makes on Iceberg sources, and which a drop removes: those of its own state only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from sparkivm.changes.frontier import Frontier, SourceFrontier
from sparkivm.changes.source_declaration import DeclaredSources
from sparkivm.engine import Commit, EngineError, RelationFacts, SnapshotTag
from sparkivm.formats import DEFAULT_FORMAT, STATE_FORMATS
from sparkivm.formats.state_format import Write
from sparkivm.marker import Marker, Role, owner_of
from sparkivm.names import TableName
from sparkivm.reasons import Fallback, Reason
from sparkivm.refresh.request import RefreshRequest, StateLayout
from sparkivm.refresh.run.attempt import Attempt
from sparkivm.refresh.session.recording_engine import RecordingEngine
from sparkivm.refresh.stored.kept_snapshots import keep_snapshots, tag_of
from sparkivm.refresh.stored.ownership import drop_own
from sparkivm.refresh.stored.stored_state import StoredState
from tests.bare_macros import BareMacros

HOUR_MS, DAY_MS = 3_600_000, 24 * 3_600_000
NOW_MS = 100 * DAY_MS
ORDERS = TableName("shop", "orders", "lake")
OWNER = owner_of("lab", "model.lab.m", TableName("s", "m"))
STATE = RelationFacts(
    TableName("s", "m__ivm"), "delta", (), table_id="of the state", version=1,
    properties=Marker(OWNER, Role.STATE).properties,
)  # fmt: skip
TAG = tag_of(STATE, OWNER)
KEPT = DeclaredSources("s", {ORDERS.key: {"keep_snapshots": "14 days"}})


class Tables:
    """An engine with one source and one state."""

    def __init__(self, source: RelationFacts | None, frontier: Frontier) -> None:
        self.source, self.frontier = source, frontier
        self.executed: list[str] = []
        self.fails = ""
        self._macros = BareMacros()

    def describe(self, name: TableName) -> RelationFacts | None:
        return {ORDERS.key: self.source, STATE.name.key: STATE}.get(name.key)

    def describe_all(self, names: Sequence[TableName]) -> list[RelationFacts | None]:
        return [self.describe(name) for name in names]

    def commits(self, name: TableName, after: int) -> list[Commit]:
        assert name == STATE.name
        return [Commit(1, 0, "WRITE", {}, {}, user_metadata=self.frontier.to_json())]

    def render(self, macro: str, **arguments: Any) -> str:
        return self._macros.render(macro, **arguments)

    def execute(self, sql: str) -> list[Any]:
        if self.fails and " tag " in sql:
            raise EngineError("no", self.fails)
        self.executed.append(sql)
        return []


def source(snapshot: int = 7, tags: Mapping[str, SnapshotTag] | None = None) -> RelationFacts:
    return RelationFacts(ORDERS, "iceberg", (), commit_id=f"snapshot:{snapshot}:0", tags=tags or {})


def frontier(snapshot: int = 7, days_ago: float = 2) -> Frontier:
    made_ms = NOW_MS - int(days_ago * DAY_MS)
    read = {ORDERS.key: SourceFrontier(str(ORDERS), "id", 1, f"snapshot:{snapshot}:0", made_ms, {})}
    return Frontier("lab", "model.lab.m", "s.m", "bag", "text", "", {}, read)


def kept(
    found: RelationFacts | None,
    at: Frontier,
    declared: DeclaredSources = KEPT,
    *,
    fails: str = "",
    names_others: bool = False,
) -> tuple[list[str], list[str]]:
    """The statements and the warnings."""
    engine: Any = Tables(found, at)
    engine.fails = fails
    recording = RecordingEngine(engine)
    keep_snapshots(recording, declared, TAG, at, engine.describe, NOW_MS, names_others=names_others)
    return engine.executed, recording.warnings


def test_the_tag_of_a_state():
    assert re.fullmatch(r"sparkivm_s_m_[0-9a-f]{16}", TAG)
    others = [
        tag_of(replace(STATE, table_id="of another metastore"), OWNER),
        tag_of(STATE, replace(OWNER, project="another")),
        tag_of(STATE, replace(OWNER, view="s.other")),
    ]
    assert len({TAG, *others}) == 4
    strange = tag_of(STATE, owner_of("p", "m", TableName("s", "日本 `x` " * 40)))
    assert re.fullmatch(r"sparkivm_s_[\w]{1,90}", strange, re.ASCII)


def test_the_age_of_a_tag_counts_from_its_snapshot():
    statements, warnings = kept(source(), frontier(days_ago=2))
    assert statements == [
        f"alter table `lake`.`shop`.`orders` create or replace tag `{TAG}` as of version 7 "
        f"retain {16 * 24 * 60} minutes"
    ]
    assert not warnings


def until(hours: float, snapshot: int = 7) -> dict[str, SnapshotTag]:
    return {TAG: SnapshotTag(snapshot, NOW_MS + int(hours * HOUR_MS))}


@pytest.mark.parametrize(
    ("tags", "written"),
    [
        (until(14 * 24), 0),
        (until(7 * 24), 0),
        (until(7 * 24 - 1), 1),  # less than half of the time is left
        (until(14 * 24, snapshot=6), 1),
        ({TAG: SnapshotTag(7, None)}, 0),
        ({"audit": SnapshotTag(7, None)}, 1),
    ],
)
def test_a_tag_is_written_when_it_is_needed(tags, written):
    statements, _ = kept(source(tags=tags), frontier())
    assert len(statements) == written
    assert all(TAG in statement for statement in statements)


def test_sources_that_keep_nothing():
    assert kept(source(), frontier(), DeclaredSources("s", {ORDERS.key: {"key": "id"}})) == ([], [])
    assert kept(source(snapshot=0), frontier(snapshot=0)) == ([], []), "nothing was ever written to it"
    assert kept(None, frontier()) == ([], [])


def test_sources_that_are_not_iceberg():
    delta = RelationFacts(ORDERS, "delta", ())
    mirror = RelationFacts(TableName("s", "mirror"), "iceberg", (), mirror_of=ORDERS)
    for found, words in ((delta, "a Delta table"), (mirror, "a mirror of it")):
        assert kept(found, frontier()) == ([], [])
        statements, (warning,) = kept(found, frontier(), names_others=True)
        assert not statements
        assert "no effect on lake.shop.orders" in warning
        assert warning.endswith(words)


def test_what_cannot_be_tagged_is_a_warning():
    _, (warning,) = kept(source(), frontier(), fails="PARSE_SYNTAX_ERROR")
    assert "IcebergSparkSessionExtensions to spark.sql.extensions" in warning
    _, (warning,) = kept(source(), frontier(), fails="INSUFFICIENT_PERMISSIONS")
    assert "allow this user to alter the table, or remove keep_snapshots" in warning


@pytest.mark.parametrize("fails", ["", "INSUFFICIENT_PERMISSIONS"])
def test_dropping_a_state_removes_its_tag(fails):
    both = {**until(1), "audit": SnapshotTag(7, None)}
    engine: Any = Tables(source(tags=both), frontier())
    engine.fails = fails
    recording = RecordingEngine(engine)
    drop_own(recording, STATE)
    dropped = [f"alter table `lake`.`shop`.`orders` drop tag if exists `{TAG}`"]
    assert engine.executed == [*([] if fails else dropped), "drop table if exists `s`.`m__ivm`"]
    assert len(recording.warnings) == (1 if fails else 0)


def test_dropping_a_state_without_tags():
    engine: Any = Tables(source(tags={"audit": SnapshotTag(7, None)}), frontier())
    drop_own(RecordingEngine(engine), STATE)
    assert engine.executed == ["drop table if exists `s`.`m__ivm`"]


@pytest.mark.parametrize("known", [True, False])
def test_a_state_that_was_replaced_by_one_with_another_id(known):
    """Delta gives each replaced table another id. The tag of the former one would stay until it expires."""
    former = replace(STATE, table_id="of the former state")
    problem = None if known else Fallback(Reason.STATE_MODIFIED)
    replaced = StoredState(former, frontier() if known else None, problem)
    tags = {tag_of(former, OWNER): SnapshotTag(6, None), "audit": SnapshotTag(7, None)}
    statements = moved(replaced, tags)
    assert [statement.split("retain")[0].split("as of")[0].strip() for statement in statements] == [
        f"alter table `lake`.`shop`.`orders` create or replace tag `{TAG}`",
        f"alter table `lake`.`shop`.`orders` drop tag if exists `{tag_of(former, OWNER)}`",
    ]


def test_a_state_that_was_replaced_with_its_id():
    """As Iceberg does."""
    assert moved(StoredState(STATE, frontier(6), None), {TAG: SnapshotTag(7, None)}) == []
    assert moved(StoredState(None, None, Fallback(Reason.STATE_MISSING)), {TAG: SnapshotTag(7, None)}) == []


def attempted(engine: Any, layout: StateLayout | None = None) -> Attempt:
    sources: Any = SimpleNamespace(known=engine.describe, forget=lambda _: None)
    request = RefreshRequest(TableName("s", "m"), "", OWNER, declared=KEPT, layout=layout or StateLayout())
    no_refresh: Any = None
    return Attempt(RecordingEngine(engine), request, sources, no_refresh, 0)


def test_a_new_state_names_the_sources_that_keep_nothing():
    attempt = attempted(Tables(RelationFacts(ORDERS, "delta", ()), frontier()))
    attempt.move_snapshots(frontier(), StoredState(STATE, frontier(), None))
    (warning,) = attempt.engine.warnings
    assert "no effect on lake.shop.orders" in warning
    attempt.keep_snapshots(frontier(), STATE)
    assert len(attempt.engine.warnings) == 1


@pytest.mark.parametrize(
    ("snapshots", "warns"), [(100, True), (200, True), (0, False), (1, False), (99, False), (101, False)]
)
def test_a_hint_at_each_hundred_snapshots(monkeypatch, snapshots, warns):
    monkeypatch.setattr("sparkivm.refresh.run.attempt.commit_statement", lambda *_: None)
    attempt = attempted(Tables(None, frontier()))
    stored = StoredState(replace(STATE, snapshots=snapshots), frontier(), None)
    attempt.commit(stored, frontier(), Write("append_state", {}))
    assert [f"keeps {snapshots} snapshots" in text for text in attempt.engine.warnings] == [True] * warns


@pytest.mark.parametrize(("catalog", "format"), [(None, "iceberg"), ("lake", DEFAULT_FORMAT)])
def test_the_format_of_new_mirrors(catalog, format):
    """A mirror is in the views' catalog, also where the states are in another one."""
    layout = StateLayout(file_format="iceberg", catalog=catalog)
    assert attempted(Tables(None, frontier()), layout).request.format_of_mirrors is STATE_FORMATS[format]


def moved(replaced: StoredState, tags: Mapping[str, SnapshotTag]) -> list[str]:
    """The statements after another state was replaced by `STATE`."""
    engine: Any = Tables(source(tags=tags), frontier())
    attempted(engine).move_snapshots(frontier(), replaced)
    return list(engine.executed)
