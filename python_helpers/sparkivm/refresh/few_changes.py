"""The rows of small changes, fetched once in a run: most questions about them then need no Spark.

The smallest Spark job takes 0.1 to 0.3 s, and each view asks its own question: of the same forty changed
rows, in other columns. Python answers them all from one reading.

Law: two values of a column have one text here if and only if Spark's grouping, with -0.0 apart from 0.0,
takes them for the same. So a question gets Spark's answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sparkivm.changes.source_change import SourceChange
from sparkivm.engine import Engine, Field, RelationFacts
from sparkivm.names import WEIGHT, quoted
from sparkivm.refresh.answers import NULL_TEXT, FewRows
from sparkivm.refresh.questions import ask, texts_of
from sparkivm.refresh.run_memory import Memory

_MOST_ROWS = 2_000
_AS_STRING = re.compile(
    r"tinyint|smallint|int|bigint|decimal\(\d+,\d+\)|boolean|date|timestamp_ntz|float|double"
)
_AS_DIGEST = re.compile(r"string|binary|(?:var)?char\(\d+\)")  # but not collated strings


def few_rows(
    engine: Engine,
    tables: Mapping[str, RelationFacts],
    changes: Mapping[str, SourceChange],
    asked: Iterable[str],
    memory: Memory,
) -> dict[str, FewRows]:
    """The rows of those changes of `asked` that are few; what the run has not fetched yet in one query."""
    few = {
        key: memory.answers(key, changes[key])
        for key in asked
        if changes[key].how == "feed" and changes[key].rows <= _MOST_ROWS
    }
    missing = [key for key, answers in few.items() if answers.few is None]
    for key, rows in _fetched(engine, tables, changes, missing, memory).items():
        few[key].few = rows
    return {key: answers.few for key, answers in few.items() if answers.few is not None}


def _fetched(
    engine: Engine,
    tables: Mapping[str, RelationFacts],
    changes: Mapping[str, SourceChange],
    asked: Iterable[str],
    memory: Memory,
) -> dict[str, FewRows]:
    columns = {key: texts for key in asked if (texts := _texts(tables[key].fields))}
    if not columns:
        return {}
    read = {key: replace(memory.changes(key, changes[key], uses=1), nets=False) for key in columns}
    sources = texts_of(tables, read, read)
    questions = (
        f"select {index} as source, {WEIGHT} as weight, concat_ws(',', {', '.join(texts.values())}) as texts"
        f"\nfrom (\n{sources.changes(key, list(texts))}\n) as changed"
        for index, (key, texts) in enumerate(columns.items())
    )
    rows = ask(engine, questions)
    return {
        key: FewRows(
            tuple(texts),
            tuple((row["weight"], tuple(row["texts"].split(","))) for row in rows if row["source"] == index),
        )
        for index, (key, texts) in enumerate(columns.items())
    }


def _texts(fields: Iterable[Field]) -> dict[str, str]:
    """Of each column that can be told by a text without commas: the expression for it."""
    found = ((field.name, _text(quoted(field.name), field.type)) for field in fields)
    return {name: f"coalesce({text}, '{NULL_TEXT}')" for name, text in found if text}


def _text(column: str, type_: str) -> str:
    if _AS_STRING.fullmatch(type_):
        return f"cast({column} as string)"
    if type_ == "timestamp":  # its text has no time zone, so that an hour occurs twice
        return f"cast(unix_micros({column}) as string)"
    if _AS_DIGEST.fullmatch(type_):
        return f"sha2(cast({column} as binary), 256)"
    return ""
