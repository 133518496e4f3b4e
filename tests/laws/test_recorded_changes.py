"""The changes that a statement reads == the table's new rows − its old rows, however the changes are read."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pytest
import sqlglot

from sparkivm.engine import Field, RelationFacts
from sparkivm.formats.refresh_texts import PinnedTable, RefreshTexts, changed_rows
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import TableName
from tests.fuzz.database import insert_statement
from tests.fuzz.embedded import new_connection

NAME = TableName("s", "t")
FIELDS = ("k", "x")
ROUNDS = 12
_VERSION = re.compile(r"`s`\.`t` version as of (\d+)")
_FEED = re.compile(r"table_changes\('`s`\.`t`', (\d+), (\d+)\)")

Row = tuple[Any, ...]


@dataclass
class History:
    """All versions of a table, and its feed entries for each commit.

    DOUBLE values are compared as text here, because -0.0 must differ from 0.0.
    """

    versions: list[list[Row]]
    feed: list[Row] = field(default_factory=list)  # k, x, change type, version

    def commit(self, deleted: Sequence[Row], inserted: Sequence[Row], update: bool = False) -> None:
        rows = list((Counter(self.versions[-1]) - Counter(deleted) + Counter(inserted)).elements())
        gone, came = ("update_preimage", "update_postimage") if update else ("delete", "insert")
        number = len(self.versions)
        self.feed += [(*row, gone, number) for row in deleted] + [(*row, came, number) for row in inserted]
        self.versions.append(rows)

    def load(self, connection: duckdb.DuckDBPyConnection) -> None:
        tables = [(f"t_{number}", "k int, x double", rows) for number, rows in enumerate(self.versions)]
        tables += [("feed", "k int, x double, _change_type text, _commit_version int", self.feed)]
        for name, columns, rows in tables:
            connection.execute(f"create or replace table {name} ({columns}); {insert_statement(name, rows)}")


def at(version: int) -> RelationFacts:
    return RelationFacts(NAME, "delta", (), version=version)


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return new_connection()


def rows_of(connection: duckdb.DuckDBPyConnection, history: History, text: str) -> list[Row]:
    """The rows that a Spark text finds, in a history's form, with weights."""
    text = _VERSION.sub(r"t_\1", text)
    text = _FEED.sub(r"(select * from feed where _commit_version between \1 and \2)", text)
    text = sqlglot.transpile(text, read="spark", write="duckdb")[0]
    history.load(connection)
    return connection.execute(f'select k, cast(x as text), "__ivm_w" from ({text})').fetchall()


def weights(rows: Sequence[Row]) -> dict[Row, int]:
    found: Counter[Row] = Counter()
    for *row, weight in rows:
        found[tuple(row)] += int(weight)
    return {row: weight for row, weight in found.items() if weight}


def difference(history: History, old: int, new: int) -> dict[Row, int]:
    def bag(version: int) -> Counter[Row]:
        return Counter(history.versions[version])

    found = bag(new)
    found.subtract(bag(old))
    return {row: weight for row, weight in found.items() if weight}


def random_history(rng: random.Random, only_appends: bool = False) -> History:
    def row() -> Row:
        return rng.choice((None, 1, 2)), rng.choice((None, "0.0", "-0.0", "1.5"))

    history = History([[row() for _ in range(rng.randint(0, 4))]])
    for _ in range(4):
        rows = history.versions[-1]
        deleted = [] if only_appends else [one for one in rows if rng.random() < 0.5]
        inserted = [row() for _ in range(rng.randint(0, 3))]
        history.commit(deleted, [*deleted, *inserted] if rng.random() < 0.3 else inserted, rng.random() < 0.5)
    return history


def changes(change: SourceChange) -> str:
    return RefreshTexts({"s.t": PinnedTable(at(change.new), change)}).changes("s.t", FIELDS)


@pytest.mark.parametrize("floats", [(), (Field("x", "double"),)], ids=["plain", "floats"])
@pytest.mark.parametrize("nets", [True, False])
@pytest.mark.parametrize("how", ["feed", "diff"])
def test_changes_between_two_versions(how, nets, floats, connection, law_seed):
    rng = random.Random(f"{law_seed} {how} {nets}")
    for _ in range(ROUNDS):
        history, (old, new) = random_history(rng), sorted(rng.sample(range(5), 2))
        found = rows_of(
            connection, history, changes(SourceChange(how, old, new, nets=nets, conflated=floats))
        )
        if floats or not nets:
            assert weights(found) == difference(history, old, new)
        if nets:
            assert all(weight for *_, weight in found), "what cancels is left out"
            assert len({(k, x) for k, x, _ in found}) == len(found), "a row for each value"


def test_appended_rows(connection, law_seed):
    rng = random.Random(law_seed)
    for _ in range(ROUNDS):
        history, (old, new) = random_history(rng, only_appends=True), sorted(rng.sample(range(5), 2))
        found = rows_of(connection, history, changes(SourceChange("feed", old, new, append_only=True)))
        assert all(weight == 1 for *_, weight in found)
        assert weights(found) == difference(history, old, new)


@pytest.mark.parametrize("how", ["feed", "diff"])
def test_changed_rows_that_are_kept_in_memory(how, connection, law_seed):
    """A difference omits rows that both versions have; a feed is kept as it is."""
    rng = random.Random(f"{law_seed} {how}")
    for _ in range(ROUNDS):
        history, (old, new) = random_history(rng), sorted(rng.sample(range(5), 2))
        change = SourceChange(how, old, new, nets=True, conflated=(Field("x", "double"),))
        found = rows_of(connection, history, changed_rows(at(change.new), change, FIELDS))
        assert weights(found) == difference(history, old, new)
        assert how == "feed" or all(weight for *_, weight in found)


def test_a_statement_reads_versions():
    change = SourceChange("diff", 3, 7)
    texts = RefreshTexts({"s.t": PinnedTable(at(7), change)})
    assert texts.new("s.t") == "`s`.`t` version as of 7"
    assert texts.old("s.t") == "`s`.`t` version as of 3"


def test_a_part_and_rows_in_memory():
    pinned = PinnedTable(at(7), where="`k` = 1")
    assert RefreshTexts({"s.t": pinned}).new("s.t") == "(select * from `s`.`t` version as of 7 where `k` = 1)"
    assert RefreshTexts({"s.t": PinnedTable(at(7), kept="kept_rows")}).new("s.t") == "kept_rows"
    change = SourceChange("feed", 3, 7, kept="kept_changes")
    texts = RefreshTexts({"s.t": PinnedTable(at(7), change)})
    assert texts.changes("s.t", FIELDS) == "select `k`, `x`, __ivm_w\nfrom kept_changes"


def test_relations_without_versions_and_moments():
    texts = RefreshTexts(
        {}, {"staged": "a_view"}, ({"now": "date '2024-02-01'"}, {"now": "date '2024-01-01'"})
    )
    assert texts.new("staged") == "a_view"
    assert "2024-02-01" in texts.moment("now", False).sql("duckdb")
    assert "2024-01-01" in texts.moment("now", True).sql("duckdb")
