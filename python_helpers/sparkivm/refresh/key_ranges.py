"""The spans of changed keys, and of the same keys in large tables, asked in one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sparkivm.changes.delta_texts import DeltaTexts, PinnedTable
from sparkivm.changes.source_change import SourceChange
from sparkivm.engine import Engine, RelationFacts
from sparkivm.names import quoted
from sparkivm.plan.key_ranges import ChangedColumn, KeyRanges, Span, needs
from sparkivm.plan.state_change import StateChange
from sparkivm.refresh.planning_settings import planned_for_changes
from sparkivm.refresh.run_memory import Memory

# Tables of which less is read are not worth the question.
_WORTH_ASKING_BYTES = 128 << 20
_WHOLE_NUMBERS = frozenset({"tinyint", "smallint", "int", "bigint"})


def find_key_ranges(
    engine: Engine,
    change: StateChange,
    tables: Mapping[str, RelationFacts],
    changes: Mapping[str, SourceChange],
    memory: Memory,
) -> tuple[KeyRanges, dict[str, SourceChange]]:
    """What is worth knowing of the keys that a plan looks up in large tables.

    Returns: the ranges, and the changes, some of them in memory by now.
    """
    lookups = list(_lookups(change, tables))
    if not lookups:
        return KeyRanges(), dict(changes)
    columns = sorted({column for _, changed in lookups for column in changed}, key=repr)
    asked = {column.table for column in columns}
    changes = {key: memory.changes(key, one, uses=2) if key in asked else one for key, one in changes.items()}
    texts = DeltaTexts(
        {key: PinnedTable(tables[key].name, tables[key].version, changes[key]) for key in asked}
    )
    held = sorted({where for where, _ in lookups})
    questions = [
        *(_span_of(quoted(c.field), f"({texts.changes(c.table, (c.field,))}) as changed") for c in columns),
        *(
            _span_of(quoted(name), f"{tables[key].name.sql} version as of {tables[key].version}")
            for key, name in held
        ),
    ]
    numbered = (f"select {i} as number, * from ({question}) as q{i}" for i, question in enumerate(questions))
    with planned_for_changes(engine, 0):
        rows = engine.query("\nunion all\n".join(numbered))
    spans = {int(row["number"]): Span(row["low"], row["high"]) for row in rows if row["low"] is not None}
    return (
        KeyRanges(
            {column: spans.get(i) for i, column in enumerate(columns)},
            {where: spans[i] for i, where in enumerate(held, len(columns)) if i in spans},
        ),
        changes,
    )


def _lookups(
    change: StateChange, tables: Mapping[str, RelationFacts]
) -> Iterable[tuple[tuple[str, str], frozenset[ChangedColumn]]]:
    """Fields of large tables that are only looked up, and where the keys come from."""
    for part in change.parts:
        for table, alternatives in needs(part, change.staged).items():
            source = tables.get(table)
            if source is None or (source.size_bytes or 0) < _WORTH_ASKING_BYTES:
                continue
            usable = [
                [
                    one
                    for one in need
                    if all(_is_a_number(tables, c) for c in (ChangedColumn(table, one.column), *one.changed))
                ]
                for need in alternatives
            ]
            if all(usable):
                yield from (((table, one.column), one.changed) for need in usable for one in need)


def _is_a_number(tables: Mapping[str, RelationFacts], column: ChangedColumn) -> bool:
    return any(f.name == column.field and f.type in _WHOLE_NUMBERS for f in tables[column.table].fields)


def _span_of(column: str, rows: str) -> str:
    return f"select cast(min({column}) as bigint) as low, cast(max({column}) as bigint) as high from {rows}"
