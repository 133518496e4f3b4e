"""A clone of a source: the version with the rows that a cloned state was computed from, if it has one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sparkivm.changes.frontier import Frontier, Origin, SourceFrontier
from sparkivm.engine import Commit, Field, RelationFacts
from sparkivm.names import TableName
from sparkivm.refresh.stored.clones import with_clones
from sparkivm.refresh.stored.stored_state import StoredState

THERE, HERE = "s.m__ivm", "s.ci_m__ivm"
FIELDS = (Field("k", "int", mapped_to="1"), Field("x", "int", mapped_to="2"))
KNOWN = SourceFrontier(THERE, "its id", 3, "snapshot:33:0", 7, {"k": "int #1", "x": "int #2"})
# Engines add the id of the schema to the newest snapshot of a table.
CLONE = RelationFacts(
    TableName("s", "ci_m__ivm"), "iceberg", FIELDS, table_id="here", version=1, commit_id="snapshot:77:0"
)
CLONED = Frontier(
    "p", "model.p.m", "s.ci_m", "bag", "text", "plan", {}, {},
    columns=(("k", "int", ""), ("x", "int", "")),
    origin=Origin("its id", {"2": "snapshot:22", "3": "snapshot:33"}),
)  # fmt: skip
STORED = StoredState(None, replace(CLONED, sources={THERE: KNOWN}, clones={HERE: THERE}), None)


class Spark:
    """Knows the one commit of the clone."""

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier

    def commits(self, name: TableName, after: int) -> list[Commit]:
        return [
            Commit(1, 9, "append", {}, {"parent": "0"}, self.frontier.to_json(), id="snapshot:77"),
        ]


def found(frontier: Frontier = CLONED, clone: RelationFacts = CLONE) -> SourceFrontier | None:
    spark: Any = Spark(frontier)
    stored = with_clones(spark, STORED, lambda name: clone)
    assert stored.frontier is not None
    assert stored.frontier.sources[THERE] == KNOWN
    return stored.frontier.sources.get(HERE)


def test_a_snapshot_is_that_of_its_origin_whatever_schema_the_engine_names():
    assert found() == SourceFrontier(HERE, "here", 1, "snapshot:77:0", 9, KNOWN.fields)


@pytest.mark.parametrize(
    "origin",
    [
        Origin("another id", {"3": "snapshot:33"}),
        Origin("its id", {"2": "snapshot:22"}),
        Origin("its id", {"3": "snapshot:34"}),
    ],
)
def test_a_clone_of_other_rows(origin):
    assert found(replace(CLONED, origin=origin)) is None


@pytest.mark.parametrize("fields", [FIELDS[:1], (FIELDS[0], Field("x", "bigint", mapped_to="2"))])
def test_a_clone_with_one_column_of_another_type_or_without_it(fields):
    assert found(clone=replace(CLONE, fields=fields)) is None
