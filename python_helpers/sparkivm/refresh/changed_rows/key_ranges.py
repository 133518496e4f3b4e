"""The spans of changed keys that are looked up in large tables, from one query.

tested  tests/fuzz/key_ranges.py, tests/spark/test_key_ranges.py
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from sparkivm.algebra import Relation, Scan
from sparkivm.engine import RelationFacts
from sparkivm.formats.source_change import SourceChange
from sparkivm.names import in_changes, quoted
from sparkivm.plan.distinct_values import distinct_values
from sparkivm.plan.key_ranges import KeyRanges, Span
from sparkivm.plan.needed_rows import ChangedColumn, needs
from sparkivm.plan.state_change import StateChange
from sparkivm.refresh.changed_rows.estimated_size import estimated_bytes, estimated_rows
from sparkivm.refresh.changed_rows.few_changes import few_rows
from sparkivm.refresh.changed_rows.questions import FOR_ANSWER_AND_REFRESH, ChangedSources

# Smaller tables are not worth a probe.
_WORTH_ASKING_BYTES = 128 << 20


def find_key_ranges(
    sources: ChangedSources, core: Relation, change: StateChange
) -> tuple[KeyRanges, dict[str, SourceChange]]:
    """The ranges of the keys that the plan of a change looks up in large tables.

    Returns: the ranges, and the changes, some of them now in memory.
    """
    rows = {key: estimated_rows(facts) for key, facts in sources.tables.items()}
    large = {
        (key, field.name): rows[key]
        for key, facts in sources.tables.items()
        for field in facts.fields
        if estimated_bytes(facts) >= _WORTH_ASKING_BYTES and field.spark_type.whole
    }
    asked = sorted(_asked(change, large, sources.tables), key=repr)
    if not asked:
        return KeyRanges(), dict(sources.changes)
    few = few_rows(sources, {column.table for column in asked})
    spans: dict[ChangedColumn, Span | None] = {}
    for column in asked:
        known = sources.answers(column.table).spans
        if (asked_before := _key(sources, column)) in known:
            spans[column] = known[asked_before]
        elif column.table in few:
            spans[column] = few[column.table].span(column.field)
    unknown = [column for column in asked if column not in spans]
    if unknown:
        sources = sources.kept({column.table for column in unknown}, FOR_ANSWER_AND_REFRESH)
        for column, span in _spans(sources, unknown).items():
            spans[column] = sources.answers(column.table).spans[_key(sources, column)] = span
    return KeyRanges(spans, large, numbers_of(large, core, rows)), dict(sources.changes)


def _key(sources: ChangedSources, column: ChangedColumn) -> tuple[str, tuple[str, ...]]:
    """Of `Answers.spans`. Netted in some columns, changes of the others are gone, with their keys."""
    netted = sources.changes[column.table].is_netted_first
    return column.field, tuple(sorted(sources.read[column.table])) if netted else ()


def numbers_of(
    columns: Collection[tuple[str, str]], core: Relation, rows: Mapping[str, float]
) -> dict[tuple[str, str], float]:
    """How many values integer columns may have, where they are equated with columns of smaller tables.

    It is only a guess: a table of a few orders has few of all order numbers.
    """
    values = distinct_values(core, rows)
    found: dict[tuple[str, str], float] = {}
    for node in core.walk():
        if isinstance(node, Scan):
            for name, field in node.fields:
                key = (node.table, field)
                if key in columns and values.get(name, math.inf) < rows[node.table]:
                    found[key] = max(found.get(key, 0.0), values[name])
    return found


def _spans(sources: ChangedSources, asked: Sequence[ChangedColumn]) -> dict[ChangedColumn, Span | None]:
    # Not consolidated: in the key alone, an update of another column would cancel out.
    texts = sources.texts({column.table for column in asked}, netted=False)
    questions = (
        f"select {i} as number, cast(min({name}) as bigint) as low, cast(max({name}) as bigint) as high\n"
        f"from ({texts.changes(column.table, (column.field,))}) as changed"
        for i, column in enumerate(asked)
        for name in [quoted(in_changes(column.field))]
    )
    rows = sources.ask(questions)
    return {
        asked[row["number"]]: None if row["low"] is None else Span(row["low"], row["high"]) for row in rows
    }


def _asked(
    change: StateChange, large: Collection[tuple[str, str]], tables: Mapping[str, RelationFacts]
) -> Iterator[ChangedColumn]:
    """The columns that decide which part of each large table is needed."""
    for part in change.parts:
        for table, alternatives in needs(part, change.staged).items():
            usable = [
                [one for one in need if (table, one.column) in large and _are_numbers(tables, one.changed)]
                for need in alternatives
            ]
            if all(usable):
                yield from chain.from_iterable(one.changed for need in usable for one in need)


def _are_numbers(tables: Mapping[str, RelationFacts], columns: Collection[ChangedColumn]) -> bool:
    return all(
        any(f.name == column.field and f.spark_type.whole for f in tables[column.table].fields)
        for column in columns
    )
