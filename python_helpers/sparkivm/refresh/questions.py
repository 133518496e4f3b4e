"""Questions about changes, asked before much is read for them: all of a kind in one query."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from sparkivm.changes.delta_texts import DeltaTexts, PinnedTable
from sparkivm.changes.source_change import SourceChange
from sparkivm.engine import Engine, RelationFacts, Row
from sparkivm.refresh.planning_settings import planned_for_changes
from sparkivm.refresh.run_memory import Memory


def kept_to_ask(
    changes: Mapping[str, SourceChange], asked: Collection[str], memory: Memory
) -> dict[str, SourceChange]:
    """The changes, those of `asked` in memory: they are read for the answer, and again by the refresh."""
    return {
        key: memory.changes(key, change, uses=2) if key in asked else change
        for key, change in changes.items()
    }


def texts_of(
    tables: Mapping[str, RelationFacts], changes: Mapping[str, SourceChange], asked: Iterable[str]
) -> DeltaTexts:
    """How a question reads the changes of sources."""
    return DeltaTexts(
        {key: PinnedTable(tables[key].name, tables[key].version, changes[key]) for key in asked}
    )


def ask(engine: Engine, questions: Iterable[str]) -> Sequence[Row]:
    """The rows of all questions, which are SELECTs of the same columns."""
    with planned_for_changes(engine, 0):
        return engine.query("\nunion all\n".join(questions))
