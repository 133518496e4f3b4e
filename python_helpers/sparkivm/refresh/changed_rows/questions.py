"""Cheap probes of the changes, batched into one query, before the expensive reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sparkivm.engine import Engine, RelationFacts, Row
from sparkivm.formats.refresh_texts import PinnedTable, RefreshTexts
from sparkivm.formats.source_change import SourceChange
from sparkivm.refresh.changed_rows.answers import Answers
from sparkivm.refresh.changed_rows.run_memory import Memory
from sparkivm.refresh.session.planning_settings import planned_for_changes

FOR_ANSWER_AND_REFRESH = 2  # uses of changes


@dataclass(frozen=True)
class ChangedSources:
    """The sources of a refresh and their changes, by the keys of the plan's tables.

    memory  has changes that a probe reads and the refresh reads again
    read    the columns of each source that probes and the refresh read
    """

    engine: Engine
    tables: Mapping[str, RelationFacts]
    changes: Mapping[str, SourceChange]
    memory: Memory
    read: Mapping[str, Sequence[str]]

    def kept(self, asked: Collection[str], uses: int, *, every: bool = False) -> ChangedSources:
        """The same, with the changes of `asked` in memory if so many uses are worth it.

        every  in all columns that can be kept, not only those that are read
        """
        changes = {
            key: self.memory.changes(key, self.changes[key], uses, self.read[key], every=every)
            for key in asked
        }
        return replace(self, changes={**self.changes, **changes})

    def answers(self, table: str) -> Answers:
        """What the run knows of the changes of one source; callers read it and add to it."""
        return self.memory.answers(table, self.changes[table])

    def texts(self, asked: Iterable[str], *, netted: bool) -> RefreshTexts:
        """How a question reads the changes of `asked`.

        netted  consolidated, without changes that cancel each other
        """
        return RefreshTexts(
            {
                key: PinnedTable(table, replace(change, nets=netted and change.nets))
                for key in asked
                for table, change in [(self.tables[key], self.changes[key])]
            }
        )

    def ask(self, questions: Iterable[str]) -> Sequence[Row]:
        """The rows of all questions; these are SELECTs with the same columns."""
        with planned_for_changes(self.engine, 0):
            return self.engine.query("\nunion all\n".join(questions))
