"""Finds sources that changed only in columns that the view does not read, before the expensive reads.

An UPDATE of a customer's balance does not affect a view of customers' names. Its term would still read the
other tables of its joins. If these are large, one query first asks for all such sources whether anything
remains of their changes.

dbt replaces the table of each `table` model in each run, mostly by the same rows. The commit reports all
rows as changed. The difference of the two versions has to be computed in any case, so we keep it, and first
count its rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sparkivm.algebra import Relation
from sparkivm.engine import RelationFacts
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import WEIGHT
from sparkivm.refresh.changed_rows.few_changes import few_rows
from sparkivm.refresh.changed_rows.questions import FOR_ANSWER_AND_REFRESH, ChangedSources
from sparkivm.refresh.changed_rows.run_memory import keeps_changes

# Smaller sources are not worth a probe, nor are changes that take long to consolidate.
_WORTH_ASKING_BYTES = 8 << 20
_MOST_ROWS = 10_000


def may_be_silent(
    core: Relation, tables: Mapping[str, RelationFacts], changes: Mapping[str, SourceChange]
) -> tuple[str, ...]:
    """The sources that are worth a probe; a source that gained or lost rows is not."""
    size_bytes = sum(facts.size_bytes or 0 for key, facts in tables.items() if key in core.tables)

    def is_worth_asking(change: SourceChange) -> bool:
        if change.kept:  # the view below handed on what changed
            return False
        if change.how == "diff":
            return change.counted and keeps_changes(change, FOR_ANSWER_AND_REFRESH)
        small = change.how == "feed" and change.nets and not change.growth and 0 < change.rows <= _MOST_ROWS
        return small and size_bytes >= _WORTH_ASKING_BYTES

    return tuple(key for key, change in changes.items() if is_worth_asking(change))


def without_silent(sources: ChangedSources, asked: Collection[str]) -> dict[str, SourceChange]:
    """The changes of sources; those of `asked` that leave no row in the columns that are read become none.

    The others whose two versions are compared have the number of rows that differ.
    """
    read = sources.read
    few = {key: rows for key, rows in few_rows(sources, asked).items() if rows.know(read[key])}
    silent = {key for key, rows in few.items() if rows.are_silent(read[key])}
    many = [key for key in asked if key not in few]
    counts: dict[str, int] = {}
    if many:
        sources = sources.kept(many, FOR_ANSWER_AND_REFRESH)
        compared = [key for key in many if sources.changes[key].how == "diff"]
        counts = _counted(sources, read, compared)
        silent |= {key for key, rows in counts.items() if not rows}
        silent |= _silent_to_spark(sources, read, [key for key in many if key not in counts])
    return {
        key: replace(change, how="none", rows=0)
        if key in silent
        else replace(change, rows=counts.get(key, change.rows))
        for key, change in sources.changes.items()
    }


def _counted(
    sources: ChangedSources, read: Mapping[str, Sequence[str]], asked: Collection[str]
) -> dict[str, int]:
    """How many rows were inserted or deleted, as far as the view reads them."""
    if not asked:
        return {}
    texts = sources.texts(asked, netted=True)
    questions = (
        f"select {index} as source, sum(abs({WEIGHT})) as changed from (\n"
        f"{texts.changes(key, read[key])}\n) as changed"
        for index, key in enumerate(asked)
    )
    found = {row["source"]: int(row["changed"] or 0) for row in sources.ask(questions)}
    return {key: found[index] for index, key in enumerate(asked)}


def _silent_to_spark(
    sources: ChangedSources, read: Mapping[str, Sequence[str]], asked: Collection[str]
) -> set[str]:
    if not asked:
        return set()
    texts = sources.texts(asked, netted=True)
    questions = (
        f"(select {index} as source from (\n{texts.changes(key, read[key])}\n) as changed limit 1)"
        for index, key in enumerate(asked)
    )
    loud = {int(row["source"]) for row in sources.ask(questions)}
    return {key for index, key in enumerate(asked) if index not in loud}
